"""The door of trials: tasks as items, contexts behind one barrier, invocations journalled, one report."""
