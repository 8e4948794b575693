"""The tests of the console command."""
