
"use strict";
(() => {
  const STEP = 50;
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

  // Whatever comes from the report goes through here: as text, with what cannot be seen written as an escape.
  const visible = (text) =>
    String(text).replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : visible(child));
    }
    return element;
  }

  // A long query scrolls in its place, also by keyboard.
  const SCROLLS = { tabindex: "0", role: "group", "aria-label": "Query" };

  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

  async function unpacked() {
    const text = atob(document.getElementById("data").textContent);
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  // ---- tables that sort -------------------------------------------------------------------------------------

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const places = heads.map((head, place) => place);
    const original = [...table.tBodies[0].rows];
    for (const place of places) {
      const head = heads[place];
      if (!head.dataset.sort) continue;
      const button = make("button", { type: "button", class: "sorter" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === (head.dataset.sort === "text" ? "ascending" : "descending");
        const direction = (head.dataset.sort === "text") !== down ? "ascending" : "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction);
        const sign = direction === "ascending" ? 1 : -1;
        const value = (row) => row.cells[place].dataset.value;
        original.sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
          return sign * (head.dataset.sort === "text" ? (x < y ? -1 : x > y ? 1 : 0) : Number(x) - Number(y));
        });
        table.tBodies[0].append(...original);
      });
    }
  }

  // ---- what a sample is, for people -------------------------------------------------------------------------

  const TITLES = ["title", "pr_title", "issue_title", "query", "question", "problem_statement", "comment", "trace"];

  // A query object comes as JSON text, which may be cut short, mostly within a string.
  function fieldsOf(sample) {
    if (!sample.query || sample.query[0] !== "{") return null;
    for (const end of ["", '"}', '"]}', "}"]) {
      try {
        const value = JSON.parse(sample.query.replace(end ? /\\u?[0-9a-f]{0,3}$/ : /$^/, "") + end);
        return Object.keys(value).length ? value : null;
      } catch {
        // The next way to end it; where none is right, it is text like any other.
      }
    }
    return null;
  }

  const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

  function titleOf(sample, fields) {
    if (fields) {
      const known = TITLES.find((name) => typeof fields[name] === "string" && fields[name].trim());
      if (known) return short(fields[known]);
      if (sample.title) return sample.title;
    }
    return short(sample.query || sample.id);
  }

  function short(text) {
    const line = text.replace(/\s+/g, " ").trim();
    return line.length > 140 ? line.slice(0, 139) + "…" : line;
  }

  // hit, miss, error, or null for an arm that was not asked. Without gold, silence is right.
  function outcomeOf(sample, answer) {
    if (!answer) return null;
    if (answer.outcome) return answer.outcome;
    if (answer.error) return "error";
    if (sample.stratum !== "positive") return answer.abstained ? "hit" : "miss";
    return answer.rank ? "hit" : "miss";
  }

  function badgeOf(sample, answer, limit) {
    const outcome = outcomeOf(sample, answer);
    if (outcome === null) return ["none", "–", "not asked"];
    if (answer.outcome) return [outcome, answer.text, answer.words];
    if (outcome === "error") {
      const refused = answer.refused;
      return ["error", refused ? "declined" : "error", (refused ? "declined: " : "error: ") + answer.error];
    }
    if (sample.stratum !== "positive")
      return outcome === "hit" ? ["hit", "silent", "rightly silent"] : ["miss", "spoke", "answered where nothing is to be found"];
    const what = sample.lines ? "right lines" : "gold";
    if (outcome === "hit") return ["hit", "#" + answer.rank, `${what} first found at rank ${answer.rank}`];
    return answer.abstained ? ["miss", "silent", "named no file"] : ["miss", "miss", `no ${what} within ${limit}`];
  }

  // Of a code search, measures of files stand beside those of lines.
  function measureName(sample, name) {
    if (!sample.lines) return name;
    return name.startsWith("chunk_") ? name.replace("chunk_", "line ") : name + " of files";
  }

  // ---- the list ---------------------------------------------------------------------------------------------

  class List {
    constructor(report, root) {
      this.report = report;
      this.root = root;
      this.noun = report.kind === "trial" ? "task" : "sample";
      this.samples = report.samples.map((sample, place) => {
        const fields = fieldsOf(sample);
        const paths = [...(sample.gold || []), ...(sample.given || [])].map((n) => report.paths[n])
          .concat((sample.truth || []).flatMap(([, values]) => values));
        return {
          ...sample,
          place,
          fields,
          title: this.noun === "task" ? short(sample.id) : titleOf(sample, fields), // tasks of a set begin alike
          outcomes: sample.arms.map((answer) => outcomeOf(sample, answer)),
          text: [sample.id, sample.repo, sample.task, sample.query || "", ...paths].join("\n").toLowerCase(),
        };
      });
      this.outcome = report.arms.map(() => "");
      this.facets = {};
      this.words = [];
      this.sort = ["place", 1];
      this.shown = STEP;
      this.open = new Set();
      this.build();
      this.update();
      this.follow();
      window.addEventListener("hashchange", () => this.follow());
    }

    build() {
      const search = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false",
        placeholder: (this.report.explained ? "query, " : "") + "id, repository, gold path" });
      search.addEventListener("input", () => {
        this.words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        this.restart();
      });
      const facets = [["repo", "Repository"], ["task", "Task"], ["stratum", "Stratum"], ["difficulty", "Difficulty"],
        ["corpus", "Corpus"], ["partition", "Fold"]].map(([name, title]) => this.facet(name, title));
      const outcomes = this.report.arms.map((label, arm) =>
        this.select(label, `arm-${arm}-outcome`, [["", "any"], ["hit", "hit"], ["miss", "miss"], ["error", "error"]],
          (value) => { this.outcome[arm] = value; }, `arm-${arm % this.report.colours}`));
      this.sorting = this.select("Sort by", "sort", this.sorts(), (value) => {
        const [name, direction] = value.split(" ");
        this.sort = [name, Number(direction)];
      });
      const clear = make("button", { type: "button", onclick: () => this.clear() }, "Clear filters");
      this.controls = make("form", { class: "filters", role: "search", "aria-label": "Filter samples",
        onsubmit: (event) => event.preventDefault() },
        make("label", { class: "field search" }, make("span", {}, "Search"), search), facets,
        make("fieldset", {}, make("legend", {}, "Outcome per arm"), outcomes), this.sorting, clear);
      this.status = make("p", { role: "status", class: "status" });
      this.head = make("tr");
      this.body = make("tbody");
      this.table = make("table", { class: "list" },
        make("caption", { class: "unseen" }, this.noun === "task" ? "Tasks" : "Samples"), make("thead", {}, this.head), this.body);
      this.columns();
      this.more = make("p", { class: "more" },
        make("button", { type: "button", onclick: () => { this.shown += STEP; this.update(); } }, `Show ${STEP} more`),
        make("button", { type: "button", onclick: () => { this.shown = Infinity; this.update(); } }, "Show all"));
      const missing = this.report.explained ? null : make("p", { class: "note" },
        (this.noun === "task" ? "This report does not hold what was asked" : "This report holds neither queries nor what explains a miss") +
        ": run with --retrieval-explain (or --retrieval-html) to keep it.");
      this.root.replaceChildren(...[missing, this.controls, this.status, this.table, this.more].filter(Boolean));
    }

    sorts() {
      return [["place 1", "order of the file"], ["repo 1", "repository"], ["spread -1", "disagreement of the arms"],
        ...this.report.arms.flatMap((label, arm) => [[`${arm} 1`, `${label}, best first`], [`${arm} -1`, `${label}, worst first`]])];
    }

    select(title, id, choices, change, look) {
      const options = choices.map(([value, text]) => make("option", { value }, text));
      const select = make("select", { id }, options);
      select.addEventListener("change", () => { change(select.value); this.restart(); });
      return make("label", { class: "field" + (look ? " tinted " + look : "") }, make("span", {}, title), select);
    }

    facet(name, title) {
      const counts = new Map();
      for (const sample of this.samples) if (sample[name]) counts.set(sample[name], (counts.get(sample[name]) || 0) + 1);
      if (counts.size < 2) return null;
      const choices = [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([value, count]) => [value, `${value} (${count})`]);
      return this.select(title, "facet-" + name, [["", "any"], ...choices], (value) => { this.facets[name] = value; });
    }

    columns() {
      const names = [["place", this.noun === "task" ? "Task" : "Sample"], ...this.report.arms.map((label, arm) => [String(arm), label])];
      this.head.replaceChildren(...names.map(([name, title]) => {
        const arm = name === "place" ? "" : ` tinted arm-${Number(name) % this.report.colours}`;
        const th = make("th", { scope: "col", "data-name": name, class: "column" + arm });
        th.append(make("button", { type: "button", class: "sorter", onclick: () => {
          this.sort = [name, this.sort[0] === name ? -this.sort[1] : 1];
          this.restart();
        } }, title));
        return th;
      }));
    }

    clear() {
      this.controls.reset();
      this.words = [];
      this.facets = {};
      this.outcome = this.report.arms.map(() => "");
      this.sort = ["place", 1];
      this.restart();
    }

    restart() {
      this.shown = STEP;
      this.update();
    }

    matches(sample) {
      return this.words.every((word) => sample.text.includes(word))
        && Object.entries(this.facets).every(([name, value]) => !value || sample[name] === value)
        && this.outcome.every((wanted, arm) => !wanted || sample.outcomes[arm] === wanted);
    }

    // Ranks sort as ranks; then silence, misses, errors, and arms that were not asked.
    value(sample, name) {
      if (name === "place" || name === "repo") return sample[name];
      if (name === "spread") {
        const values = sample.arms.filter(Boolean).map((answer) =>
          answer.rank ? 1 / answer.rank : Number(outcomeOf(sample, answer) === "hit"));
        return values.length ? Math.max(...values) - Math.min(...values) : 0;
      }
      const outcome = sample.outcomes[name];
      return outcome === null ? 4000 : outcome === "error" ? 3000 : outcome === "miss" ? 2000 : sample.arms[name].rank || 1000;
    }

    update() {
      const [name, direction] = this.sort;
      const found = this.samples.filter((sample) => this.matches(sample)).sort((a, b) => {
        const [x, y] = [this.value(a, name), this.value(b, name)];
        return (x < y ? -1 : x > y ? 1 : 0) * direction || a.place - b.place;
      });
      for (const th of this.head.cells) {
        if (th.dataset.name === name) th.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        else th.removeAttribute("aria-sort");
      }
      this.sorting.querySelector("select").value = `${name} ${direction}`;
      const shown = found.slice(0, this.shown);
      const rest = shown.length < found.length ? `; the first ${shown.length} are shown` : "";
      this.status.textContent = `${found.length.toLocaleString("en")} of ${plural(this.samples.length, this.noun)}${rest}`;
      this.body.replaceChildren(...shown.flatMap((sample) => this.rows(sample)));
      this.more.hidden = shown.length === found.length;
    }

    rows(sample) {
      const open = this.open.has(sample.place);
      const button = make("button", { type: "button", class: "opener", "aria-expanded": String(open),
        id: `open-${sample.place + 1}` }, sample.title);
      const facts = [sample.repo, sample.task, ["positive", "task"].includes(sample.stratum) ? null : sample.stratum.replaceAll("_", " "),
        sample.difficulty].filter(Boolean).join(" · ");
      const row = make("tr", { class: "sample" + (open ? " open" : "") },
        make("th", { scope: "row" }, button, make("span", { class: "about" }, facts)),
        sample.arms.map((answer, arm) => {
          const [look, text, words] = badgeOf(sample, answer, this.report.limit);
          return make("td", { class: `tinted arm-${arm % this.report.colours}`, "data-arm": this.report.arms[arm] },
            make("span", { class: "outcome " + look, title: visible(words) }, text));
        }));
      button.addEventListener("click", () => this.toggle(sample, row, button));
      return open ? [row, this.panel(sample)] : [row];
    }

    toggle(sample, row, button) {
      if (this.open.delete(sample.place)) {
        row.nextElementSibling.remove();
      } else {
        this.open.add(sample.place);
        row.after(this.panel(sample));
      }
      const open = this.open.has(sample.place);
      row.classList.toggle("open", open);
      button.setAttribute("aria-expanded", String(open));
    }

    // The address of a sample: #sample-12.
    follow() {
      const found = /^#sample-(\d+)$/.exec(location.hash);
      const sample = found && this.samples[Number(found[1]) - 1];
      if (!sample) return;
      this.clear();
      this.open.add(sample.place);
      this.shown = Math.max(STEP, sample.place + 1);
      this.update();
      const button = document.getElementById(`open-${sample.place + 1}`);
      button.focus();
      button.scrollIntoView({ block: "center" });
    }

    // ---- one sample -----------------------------------------------------------------------------------------

    panel(sample) {
      const cell = make("td", { colspan: String(sample.arms.length + 1) },
        make("div", { class: "panel-body" }, this.query(sample), this.gold(sample),
          make("div", { class: "answers" }, sample.arms.map((answer, arm) => this.answer(sample, answer, arm))),
          this.facts(sample)));
      return make("tr", { class: "panel" }, cell);
    }

    query(sample) {
      if (!sample.query) return null;
      const cut = sample.query_chars > 2000 && [...sample.query].length < sample.query_chars;
      const content = sample.fields
        ? make("dl", { class: "query", ...SCROLLS }, Object.entries(sample.fields).map(([name, value]) =>
          [make("dt", {}, name), make("dd", {}, asText(value))]))
        : make("p", { class: "query text", ...SCROLLS }, sample.query);
      return make("section", {}, make("h3", {}, this.noun === "task" ? "Question" : "Query"), content,
        cut ? make("p", { class: "note" }, `Cut at 2,000 of ${sample.query_chars.toLocaleString("en")} characters.`) : null);
    }

    gold(sample) {
      const facts = new Map(sample.facts || []);
      const section = make("section", {}, make("h3", {}, "Gold"));
      if (sample.truth) {
        section.append(make("dl", { class: "query" }, sample.truth.map(([kind, values]) =>
          [make("dt", {}, kind), make("dd", {}, values.length ? values.join("\n") : "none")])));
      } else if (this.report.kind === "trial") {
        section.append(make("p", {}, sample.control ? "A control: nothing is true of it." : "None: claims are not judged."));
      } else if (!sample.gold) {
        section.append(make("p", {}, "None: silence is right."));
      } else {
        section.append(make("ul", { class: "golds" }, sample.gold.map((path) => {
          const lines = (sample.lines || []).filter((line) => line[0] === path && (line[1] || line[3]))
            .map((line) => (line[1] ? `lines ${line[1]}–${line[2]}` : "") + (line[3] ? ` ${line[3]}` : ""));
          return make("li", {}, make("code", {}, this.report.paths[path]), lines.length ? " " + lines.join(", ") : null,
            this.condition(sample, path, facts.get(path)));
        })));
      }
      for (const [name, title] of [["given", "Given files, taken out of every ranking"], ["negatives", "Hard negatives"]])
        if (sample[name]) section.append(make("p", { class: "paths" }, title + ": ",
          sample[name].flatMap((path, place) => [place ? ", " : "", make("code", {}, this.report.paths[path])])));
      return section;
    }

    condition(sample, path, facts) {
      const words = [];
      if ((sample.gold_absent || []).includes(path)) words.push("absent from the snapshot: nobody can find it");
      if ((sample.given || []).includes(path)) words.push("a given file: taken out of every ranking");
      if ((sample.gold_cut || []).includes(path)) words.push("cut short by the view");
      if (facts) {
        words.push(size(facts.bytes));
        if (facts.binary) words.push("no text file: text search does not read it");
        if (facts.unsearched) words.push("text search does not walk its path");
        if (facts.holds !== undefined) words.push(`holds ${facts.holds} of the query's ${plural(sample.terms, "term")}`);
      }
      const list = (title, terms) => terms && terms.length
        ? make("p", { class: "terms" }, title + " ", terms.flatMap((term, place) => [place ? " " : "", make("span", {}, term)])) : null;
      return make("div", { class: "condition" }, words.join("; "),
        facts ? list("holds", facts.held) : null, facts ? list("lacks", facts.lacking) : null);
    }

    answer(sample, answer, arm) {
      const label = this.report.arms[arm];
      const [look, text, words] = badgeOf(sample, answer, this.report.limit);
      const head = make("h3", {}, make("span", { class: "label" }, label), " ",
        make("span", { class: "outcome " + look }, text));
      const box = make("section", { class: `answer tinted arm-${arm % this.report.colours}` }, head, make("p", { class: "note" }, words));
      if (!answer) return box;
      if (answer.runs) {
        box.append(...this.runs(answer));
        return box;
      }
      const gold = sample.gold || [];
      const missed = answer.error ? [] : gold.filter((path) => !answer.ranked.includes(path));
      if (missed.length) box.append(make("ul", { class: "missed" }, missed.map((path) =>
        make("li", {}, make("code", {}, this.report.paths[path]), ": " + this.why(sample, answer, path)))));
      if (answer.nearest) box.append(make("p", { class: "note" }, "Nearest: " + answer.nearest));
      if (answer.ranked.length) {
        const shown = new Map(answer.shown || []);
        const marks = [["gold", gold], ["given", sample.given || []], ["negative", sample.negatives || []]];
        box.append(make("ol", { class: "ranking" }, answer.ranked.map((path) => {
          const found = marks.filter(([, paths]) => paths.includes(path)).map(([name]) => name);
          const spans = (shown.get(path) || []).map((span) => `${span[0]}–${span[1]}`).join(", ");
          return make("li", { class: found.join(" ") }, make("span", { class: "path" }, this.report.paths[path]),
            spans ? make("span", { class: "spans" }, " " + spans) : null,
            found.map((name) => [" ", make("span", { class: "mark-" + name }, name)]));
        })));
      }
      const facts = [answer.wall_ms ? `${answer.wall_ms.toLocaleString("en")} ms` : null,
        answer.top_score !== undefined ? `top score ${answer.top_score}` : null, answer.state,
        answer.unknown ? `${plural(answer.unknown, "path")} not in the snapshot` : null,
        answer.duplicates ? `${plural(answer.duplicates, "repeated path")}` : null,
        ...Object.entries(answer.measures).map(([name, value]) => `${measureName(sample, name)} ${value}`)].filter(Boolean);
      box.append(make("p", { class: "note" }, facts.join(" · ")));
      return box;
    }

    // What an agent said: its claims with their verdicts, and the beginning of its reply.
    runs(answer) {
      const context = [answer.context_bytes ? `context of ${size(answer.context_bytes)}` : null,
        answer.context_truncated ? "cut" : null, answer.context_state, answer.context_error].filter(Boolean);
      return [context.length ? make("p", { class: "note" }, context.join(" · ")) : null, ...answer.runs.map((run, place) => {
        const facts = [answer.runs.length > 1 ? `run ${place + 1}` : null, run.error, run.score_error,
          typeof run.wall_ms === "number" ? `${(run.wall_ms / 1000).toFixed(1)} s` : null,
          run.tokens && typeof run.tokens === "object"
            ? "tokens: " + Object.entries(run.tokens).map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(", ") : null,
          run.attempts ? `${run.attempts} attempts` : null, run.reused_from ? "reused" : null].filter(Boolean);
        const claims = run.claims.map((claim) => make("li", {},
          make("span", { class: "verdict " + String(claim.verdict).toLowerCase() }, claim.verdict), ` ${claim.kind} `,
          make("code", {}, String(claim.value)), ` ${claim.confidence}`, claim.evidence ? `; evidence: ${claim.evidence}` : null));
        const reply = run.reply ? make("details", {}, make("summary", {}, run.cut ? "The reply's beginning" : "The reply"),
          make("p", { class: "query text" }, run.reply)) : null;
        return make("div", { class: "run" }, make("p", { class: "note" }, facts.join(" · ")),
          claims.length ? make("ul", { class: "claims" }, claims) : null, reply);
      })].filter(Boolean);
    }

    why(sample, answer, path) {
      if ((sample.gold_absent || []).includes(path)) return "absent from the snapshot";
      if ((sample.given || []).includes(path)) return "a given file";
      if (answer.beyond) {
        const [of, ranks] = answer.beyond;
        const rank = new Map(ranks).get(path);
        return rank ? `rank ${rank} of ${of.toLocaleString("en")}` : `not among the ${plural(of, "file")} that the arm ranks`;
      }
      if (answer.ranked.length < this.report.limit) return `not among the ${plural(answer.ranked.length, "file")} that the arm named`;
      return `not within ${this.report.limit}; its rank beyond is not known`;
    }

    facts(sample) {
      const facts = [["id", sample.id + (sample.ordinal ? ` (${sample.ordinal + 1})` : "")],
        ["snapshot", `${sample.repo}@${sample.base_commit}`], ["fold", sample.partition], ["cluster", sample.cluster],
        ["subsystem", sample.subsystem], ["attempts", sample.attempts]];
      return make("p", { class: "note facts" }, facts.filter((fact) => fact[1])
        .flatMap(([name, value]) => [make("span", {}, name + " "), make("code", {}, String(value)), " "]),
        make("a", { href: `#sample-${sample.place + 1}` }, "link"));
    }
  }

  const size = (bytes) =>
    bytes < 1024 ? plural(bytes, "byte") : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`;

  document.querySelectorAll("table.sortable").forEach(sortable);

  const measure = document.getElementById("forest-measure");
  if (measure) measure.addEventListener("change", () => {
    for (const panel of document.querySelectorAll("#forest > .panel")) panel.hidden = panel.dataset.measure !== measure.value;
  });

  const root = document.getElementById("list");
  unpacked().then((report) => new List(report, root)).then(
    () => document.documentElement.setAttribute("data-ready", "yes"),
    (error) => root.replaceChildren(make("p", { class: "note" },
      `The list of samples cannot be shown by this browser (${error.message}); everything above is complete.`)));
})();
