"""What the verbs of a hand-off are held against: a plain script that reads the pair, checks it, and writes it anew.

handoff.py VERB DOCS: `update`, `begin` and `end` change a section of both documents, `begin` makes the lease and `end`
takes it away; `ready` writes nothing. Each looks at both documents and answers with JSON, as the verbs do.
"""

import argparse
import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

STATUSES = ("not-started", "in-progress", "blocked", "ready-for-review", "done")


@dataclass
class Document:
    path: Path
    title: str
    sections: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Document":
        title, *parts = re.split(r"(?m)^## +", path.read_text(encoding="utf-8"))
        document = cls(path, title.strip())
        for part in parts:
            name, _, body = part.partition("\n")
            document.sections[name.strip()] = body.strip()
        return document

    def write(self) -> None:
        parts = [f"## {name}\n{body}\n" for name, body in self.sections.items()]
        self.path.write_text(f"{self.title}\n\n" + "\n".join(parts), encoding="utf-8")

    def faults(self) -> list[str]:
        found = [f"{self.path.name}: {name} is empty" for name, body in self.sections.items() if not body]
        if self.sections.get("Status") not in STATUSES:
            found.append(f"{self.path.name}: no such status")
        try:
            if datetime.fromisoformat(self.sections["Last updated"].replace("Z", "+00:00")).tzinfo is None:
                found.append(f"{self.path.name}: no time zone")
        except (KeyError, ValueError):
            found.append(f"{self.path.name}: no time")
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("update", "begin", "end", "ready"))
    parser.add_argument("docs", type=Path)
    parser.add_argument("--holder", default="codex")
    parser.add_argument("--step", default="Write the page object")
    given = parser.parse_args()
    current = Document.read(given.docs / "session-state" / "CURRENT.md")
    pointer = current.sections["Handover pointer"]
    handover = Document.read((current.path.parent / pointer).resolve())
    lease = given.docs / "session-state" / "ACTIVE_LEASE.json"
    now = datetime.now(timezone.utc).replace(microsecond=0)
    if given.verb != "ready":
        for document in (handover, current):
            document.sections["Current step"] = given.step
            document.sections["Updated by"] = given.holder
            document.sections["Last updated"] = now.isoformat()
            document.write()
        current, handover = Document.read(current.path), Document.read(handover.path)
    if given.verb == "begin":
        held = {"version": 1, "holder": given.holder, "expires_at": (now + timedelta(hours=1)).isoformat()}
        lease.write_text(json.dumps(held, indent=2) + "\n", encoding="utf-8")
    if given.verb == "end":
        lease.unlink(missing_ok=True)
    faults = current.faults() + handover.faults()
    for name in ("Status", "Next owner", "Last updated"):
        if current.sections.get(name) != handover.sections.get(name):
            faults.append(f"{name} differs")
    held_by = json.loads(lease.read_text(encoding="utf-8"))["holder"] if lease.exists() else None
    report = {"result": "ok" if not faults else "error", "held_by": held_by, "errors": faults}
    print(json.dumps({**report, "task": current.sections.get("Task"), "current": str(current.path)}, indent=2))


main()
