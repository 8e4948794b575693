"""What there is to ask of a run: one table, from which every option comes."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Option(NamedTuple):
    """One option: ``--retrieval-NAME``, ini ``retrieval_INI``, and the short form ``--SHORT`` if any."""

    name: str
    help: str
    metavar: str | None
    short: bool = True
    many: bool = False
    number: bool = False
    flag: bool = False
    alias: str | None = None
    ini: str | None = None

    @property
    def dest(self) -> str:
        """The attribute of ``config.option``, which is the name of the ini option, too."""
        return "retrieval_" + (self.ini or self.name.replace("-", "_"))

    @property
    def ini_type(self) -> Literal["linelist", "int", "bool", "string"]:
        """What the twin is in an ini file, and in native TOML."""
        return "linelist" if self.many else "int" if self.number else "bool" if self.flag else "string"


OPTIONS = (
    Option(
        "arms",
        "Arms to run, separated by commas: built-in names (grep, grep-ident, bm25:all, bm25:ident; bm25 "
        "names both), names from a conftest's pytest_retrieval_arms, engine:FILE for a code-search tool by "
        "its description (engine:ripgrep and others ship), or package.module:Object; LABEL=SPEC renames. "
        "Default: the four lexical arms, and those of --corvint.",
        "[LABEL=]SPEC,...",
        many=True,
    ),
    Option(
        "corvint",
        "The Corvint program, as a path or a name on PATH; gives the arms corvint, context, impact and "
        "affected.",
        "PROGRAM",
    ),
    Option("samples", "Samples file (JSONL); all its rows go to the suite that is run.", "FILE", many=True),
    Option(
        "corpus",
        "Where snapshots are looked up: chunk files, a folder of clones, or directories named by repository "
        "and commit.",
        "DIR",
        many=True,
    ),
    Option(
        "snapshot",
        "Names one snapshot: a chunk file, a directory, git:PATH[?view=arb] or dist:NAME. Without "
        "OWNER/NAME@COMMIT= the name is derived from the source.",
        "[OWNER/NAME@COMMIT=]SOURCE",
        many=True,
    ),
    Option(
        "release",
        "A release of Agent Retrieval Bench: an extracted folder, a .tar.zst, or a folder of several; finds "
        "samples and corpora by itself. Default: the embedded release.",
        "PATH",
    ),
    Option(
        "corpora",
        "The code-search corpora of suites/codesearch: a file that lists them with pins and query sets. "
        "Default: the embedded ones.",
        "FILE",
    ),
    Option(
        "corpora-root",
        "The folder that holds the checkouts of --corpora, by the names of their folders. Default: "
        "BENCH_CORPORA, else where the file says.",
        "DIR",
    ),
    Option(
        "limit", "k: how many ranked files are judged, 1 to 50. Default: 20.", "K", number=True, alias="top-k"
    ),
    Option("max-samples", "Judge only the first N samples of each suite.", "N", number=True),
    Option("task-type", "Judge only samples of these tasks, separated by commas.", "TASK,...", many=True),
    Option(
        "report",
        "The report's path. Default: .retrieval/report.json under the root directory.",
        "FILE",
    ),
    Option(
        "html",
        "Also write the report as one self-contained HTML page. Implies --retrieval-explain.",
        "FILE",
        short=False,
    ),
    Option(
        "explain",
        "Keep in the report what explains a missed gold file: the beginning of the query, hard negatives, "
        "gold files' sizes and terms, and their ranks beyond k where an arm tells them; of a trial the "
        "beginning of each question.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "gate",
        "What must hold: 'ARM [- ARM] [@ GROUP]: MEASURE[.STAT] >= NUMBER', 'ARM: errors == 0', "
        "'no_regression(ARM, MEASURE, MARGIN)' or 'lost(ARM, hit@5) <= 0'; may be given several times.",
        "GATE",
        many=True,
        ini="gates",
    ),
    Option(
        "gates",
        "A TOML file of further gates, with labels and reasoned exceptions.",
        "FILE",
        short=False,
        ini="gates_file",
    ),
    Option(
        "baseline",
        "The report that gates compare with: a file, or the name of an accepted baseline.",
        "REPORT|NAME",
    ),
    Option(
        "baseline-missing",
        "What becomes of a run whose baseline is not there: fail or pass. Default: fail.",
        "fail|pass",
        short=False,
    ),
    Option(
        "baseline-overlap",
        "Compare the samples that the run and its baseline have in common, if they are this share of either. "
        "Default: all samples of the run must be in the baseline.",
        "SHARE",
        short=False,
    ),
    Option(
        "undecided",
        "What becomes of a run with a gate that its samples do not decide: warn or fail. Default: warn.",
        "warn|fail",
        short=False,
    ),
    Option(
        "pair",
        "Two arms to compare on the same samples, as 'A - B'; may be given several times. Default: every arm "
        "that is no baseline against each that is one; of baselines alone, each against the first.",
        "'A - B'",
        many=True,
        ini="pairs",
    ),
    Option(
        "measures",
        "Measures beside those that every report has, by the names of ir_measures, separated by blanks: "
        "'nDCG@10 RR Success@5 AP Rprec P@5', F0.5@5, full@5 for all of the gold, or names from a "
        "conftest's pytest_retrieval_measures.",
        "'MEASURE ...'",
        short=False,
        many=True,
    ),
    Option(
        "no-github",
        "Write nothing for GitHub: by default a run appends a summary to the file that GITHUB_STEP_SUMMARY "
        "names, and annotates failed gates where GITHUB_ACTIONS is true.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "store",
        "Where texts and their statistics are kept between runs; none to go without. Default: "
        "pytest-retrieval in the user's cache directory.",
        "DIR|none",
        short=False,
    ),
    Option(
        "store-size",
        "How much the store may hold before what was longest unused goes. Default: 4G.",
        "SIZE",
        short=False,
    ),
    Option(
        "reindex",
        "Empty the state of every engine once in the run, so that its index is built from nothing.",
        None,
        flag=True,
    ),
    Option(
        "max-errors",
        "Tolerate faults of up to N samples, or P percent of them, before the run fails. Default: 0.",
        "N|P%",
        short=False,
    ),
    Option(
        "snapshot-latency",
        "Ask the arm that tells whether its store was hit (context) twice for each sample, without its store "
        "and with it, and compare the times. Any fault of a pair ends the run.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "latency-order",
        "Which call of --retrieval-snapshot-latency comes first: cold-first, the one without the store, or "
        "alternate, which lets every other sample begin with the store. Default: cold-first.",
        "ORDER",
        short=False,
    ),
    Option(
        "registration",
        "Where the registration goes, which is written before the first arm is asked and never replaced. "
        "Default: REPORT.registration.json beside an explicit --report, else none.",
        "FILE",
        short=False,
    ),
    Option(
        "overwrite",
        "Replace the registration of an earlier run.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "tasks",
        "The run manifest of suites/trial: a frozen task set for agents (JSON). Default: the embedded one.",
        "FILE",
    ),
    Option(
        "agent",
        "Who answers the tasks: codex, claude, script:PATH, or an agent description (FILE.json). Default: "
        "the embedded agent for the embedded tasks, else codex.",
        "AGENT",
    ),
    Option("agent-command", "The executable of --agent script, apart.", "PROGRAM", short=False),
    Option("model", "The model that the agent is to use.", "ID", short=False),
    Option("effort", "How hard the model is to think, as the agent names it.", "EFFORT", short=False),
    Option(
        "access",
        "What an agent has of the repository: none (an empty folder, contexts alone), read-only (a copy; not "
        "with workers), or tools (the arm as a tool). Default: none.",
        "MODE",
    ),
    Option(
        "history",
        "A local Git repository with the tasks' base commits; copies then have the history up to these.",
        "DIR",
    ),
    Option(
        "reuse",
        "A trial report whose invocations count again where agent, model, access and prompt are the same.",
        "REPORT",
    ),
    Option("repeats", "Ask each arm of a task N times. Default: 1.", "N", number=True),
    Option(
        "aider-command",
        "The command of the arm aider, which ranks files by a repository map.",
        "COMMAND",
        short=False,
    ),
    Option("timeout", "How long one invocation of an agent may take. Default: 5m.", "DURATION", short=False),
    Option("prices", "A TOML or JSON file of what tokens cost, by model.", "FILE", short=False),
    Option(
        "max-cost",
        "Start no invocation that would go beyond this if it were as dear as the dearest so far; needs "
        "--retrieval-prices.",
        "AMOUNT",
        short=False,
    ),
    Option(
        "dry-run",
        "Prepare the tasks and say how many invocations and tokens they would take; run nothing.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "resume",
        "Take up the journal that an interrupted trial has left beside its report: what had finished is not "
        "run again.",
        None,
        short=False,
        flag=True,
    ),
    Option(
        "context-packets",
        "Keep the output of every call of the context arm, byte for byte, in this new file.",
        "FILE",
        short=False,
    ),
)
