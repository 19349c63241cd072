#!/usr/bin/env python3
"""Writes internal/fio/options.tsv from the tables of fio's versions.

usage: scripts/fio-options.py DIR > internal/fio/options.tsv

DIR holds options-VERSION.tsv, engines-VERSION.tsv and cmdline-VERSION.tsv, as walked out of fio's memory by a program that
was linked with each version's own objects. Rows that are the same in consecutive versions become one row with their span.
"""
import collections
import csv
import sys

VERSIONS = ("2.1.11 2.2.13 2.21 3.1 3.7 3.12 3.16 3.19 3.25 3.28 3.30 3.33 3.35 3.36 3.38 3.39 3.40 3.41 3.42 git").split()
HEAD = """\
# What each version of fio knows. Made by scripts/fio-options.py from tables that were read out of fio's own memory (a program linked
# with each version's objects walked them, 2026-11; git is commit f5344384f7c7 of 2026-08-21, the newest at hand, filed as 3.43).
# They are facts about fio (https://github.com/axboe/fio, GPL-2.0): names, types, limits and words; no text of fio is in them.
# Lines that begin with "option": name, alias, type, engines (-: fio's own; profile:X: of no effect without that profile), versions, least, most (0: no limit), the same for
# fractions, longest, flags (s: a bare number is seconds, t: a time, p: a power of two, c: fio's own code looks at the value too),
# words (word=number), parts that a value is kept in.
# mem=cudamalloc and gpu_dev_id are of builds with CUDA, by fio's HOWTO.
# "engine": name, versions. "setting": an option of the command line only, its argument, versions.
"""


# What only builds with CUDA have, which none of the tables is of (fio's HOWTO, mem and gpu_dev_id, 3.x).
CUDA_WORD = ("mem", "cudamalloc=8")
CUDA_OPTION = ("gpu_dev_id", "-", "INT", "-", "3.1-", 0, 4294967295, 0, 0, 0, "-", "-", 1)


def rows(directory, kind, version):
    with open(f"{directory}/{kind}-{version}.tsv", encoding="utf-8") as f:
        yield from csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)


def spans(indexes):
    """3.1-3.7 for each run of consecutive versions; an open end reaches the newest."""
    runs = []
    for i in sorted(indexes):
        if runs and runs[-1][1] == i - 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    name = lambda i: "3.43" if VERSIONS[i] == "git" else VERSIONS[i]
    return ",".join(f"{name(a)}-{'' if b == len(VERSIONS) - 1 else name(b)}" for a, b in runs)


def main(directory):
    option, order = collections.OrderedDict(), {}
    engines, settings = collections.OrderedDict(), collections.OrderedDict()
    for i in reversed(range(len(VERSIONS))):
        for r in rows(directory, "options", VERSIONS[i]):
            if r["profile"] != "-":  # fio takes it in every job, and only the profile looks at it
                r["engine"] = "profile:" + r["profile"]
            flags = "".join(f for f, on in (("s", r["is_seconds"] not in "0-"), ("t", r["is_time"] not in "0-"),
                                            ("p", r["pow2"] not in "0-"), ("c", r["has_cb"] == "1")) if on) or "-"
            words = "|".join(w.replace("~cb", "").replace("~or", "") for w in r["posval"].split("|"))
            if r["name"] == CUDA_WORD[0]:
                words += "|" + CUDA_WORD[1]
            if r["name"] == "ioengine":
                words = "-"
            key = (r["name"], r["alias"], r["type"], r["minval"], r["maxval"], r["minfp"], r["maxfp"], r["maxlen"],
                   flags, words, r["noff"])
            order.setdefault(r["name"], len(order))
            for e in r["engine"].split(","):
                option.setdefault(key, {}).setdefault(e, set()).add(i)
        for r in rows(directory, "engines", VERSIONS[i]):
            engines.setdefault(r["engine"], set()).add(i)
        for r in rows(directory, "cmdline", VERSIONS[i]):
            if r["also_job_option"] == "0":
                settings.setdefault((r["option"], r["argument"]), set()).add(i)
    sys.stdout.write(HEAD)
    for key in sorted(option, key=lambda k: order[k[0]]):
        by_span = collections.OrderedDict()
        for engine, indexes in option[key].items():
            by_span.setdefault(spans(indexes), []).append(engine)
        for span, names in by_span.items():
            name, alias, kind, *rest = key
            print("option", name, alias, kind, ",".join(names), span, *rest, sep="\t")
    print("option", *CUDA_OPTION, sep="\t")
    for name, indexes in engines.items():
        print("engine", name, spans(indexes), sep="\t")
    for (name, argument), indexes in settings.items():
        print("setting", name, argument, spans(indexes), sep="\t")


main(sys.argv[1])
