"""Reads what every client was told, and every audit record, and finds what must not be."""

import collections
import json


def findings(events, records):
    """What is wrong, in words.

    - `events`: of the generator, in any order.
    - `records`: the audit records of all nodes.
    """
    found = []
    granted = collections.defaultdict(list)
    for event in events:
        if event.granted and event.key:
            granted[event.kind, event.key].append(event)
    for (kind, key), twice in granted.items():
        if len(twice) > 1:
            nodes = ", ".join(str(event.node) for event in twice)
            found.append(f"{kind} {key}: granted {len(twice)} times, by {nodes}")
    found += counters(events)
    found += statuses(events)
    found += audited(records)
    return found


def counters(events):
    """A counter goes back when a value is accepted after an equal or a greater one was."""
    found, devices = [], collections.defaultdict(list)
    for event in events:
        if event.kind == "assertion" and event.granted:
            devices[event.device].append(event)
    for device, accepted in devices.items():
        accepted.sort(key=lambda event: event.end)
        for late in accepted:
            earlier = [event for event in accepted if event.end < late.start and event.counter >= late.counter]
            if earlier:
                found.append(f"{device}: the counter {late.counter} was accepted after {earlier[0].counter}")
    return found


def statuses(events):
    """Nodes answer with 200, refuse with 403, or say that they cannot now: 429, or 503 with the time to wait."""
    found = collections.Counter()
    for event in events:
        if not event.ours or event.status in (200, 403, 429):
            continue
        if event.status == 503 and event.retry_after:
            continue
        found[f"{event.kind}: answered {event.status} {event.text}"] += 1
    return [f"{text} ({count} times)" for text, count in found.most_common(20)]


def audited(records):
    """What the servers wrote down themselves: no token was consumed for the first time twice."""
    firsts = collections.Counter()
    for record in records:
        facts = record.get("facts", {})
        if facts.get("already_consumed") is False:
            firsts[facts["token_id"]] += 1
    return [f"audit: the token {token} was consumed first {count} times" for token, count in firsts.items() if count > 1]


def replayed(requests, send):
    """After all: whatever was granted must be refused when it comes again, so that no acknowledged write is missing."""
    found = []
    for kind, key, *request in requests:
        answer = send(*request)
        body = answer.json or {}
        refused = answer.status == 403 or (answer.status == 200 and body.get("alreadyConsumed"))
        if not refused:
            text = json.dumps(body)[:200]
            found.append(f"{kind} {key}: granted before, and answered {answer.status} {text} when it came again")
    return found
