"""What fuzzing begins with: one small valid file of every format, of every file of settings, and pieces that hurt."""

from __future__ import annotations

ROW = b'<kw file="f" channel="1" tbeg="1.5" dur="1" score="-1e-3" decision="YES"/>'
VALID: dict[str, bytes] = {
    "ecf": b'<ecf source_signal_duration="2">\n'
    b'<excerpt audio_filename="a" channel="1" tbeg="0" dur="1" source_type="cts"/></ecf>',
    "rttm": b";; c\nLEXEME f1 1 1.0 0.5* a lex s <NA> <NA>\nSPEAKER f1 1 0 9 <NA> <NA> s <NA>\n",
    "kwlist": b'<kwlist encoding="GB2312"><kw kwid="K"><kwtext>a &amp; b</kwtext>'
    b"<kwinfo><attr><name>n</name><value>v</value></attr></kwinfo></kw></kwlist>",
    "kwslist": b'<?xml version="1.0" encoding="UTF-8"?>\n<kwslist min_score="-1" max_score="1">'
    b'<detected_kwlist kwid="K" search_time="1" oov_count="NA">' + ROW + ROW + b"</detected_kwlist></kwslist>",
    "resources": b"index:\n  d: {wall_s: 1, cores: 2, peak_memory_bytes: 2 GB, nodes: [{count: 1, os: x}]}\n"
    b"search:\n  q/d: {cpu_s: 1}\n",
    "queries": b'query,example,dur_s\nq,"a ""b""",0.5\n',
    "stm": b";; LABEL\nf 1 s 0 1.5 <o,f0> { a / b @ } (c) d-\nf 1 s * * e\n",
    "ctm": b"; c\nf 1 0.5 0.25 a 0.9\nf 1 * * <ALT_BEGIN>\nf 1 1 1 b NA\nf 1 * * <ALT_END>\n",
    "lexicon": b"a\tr\tx _1 . y\tz\nb\ts\tq # q\n",
    "lre_key": b"a Basque\nb OOS\nc -\n",
    "lre_out": b"Empty Open a 1 -2.5 3e-1 .4 5\nEmpty Open b 1 2 3 4 0.0000\n",
    "med_index": b"TrialID,ClipID,EventID\nt1,c1,E1\n",
    "med_ref": b'"TrialID","Targ"\n"t1","y"\nt2,n\n',
    "med_clipmd": b"ClipID,DURATION\nc1,12.5\n",
    "med_eventdb": b'EventID,"EventName"\nE1,"Say ""cheese"""\n',
    "med_judgement": b"ClipID,EventID,INSTANCE_TYPE\nc1,E1,positive\n",
    "med_detection": b"TrialID,Score\nt1,.5\nt2,1e-05\n\n",
    "med_threshold": b"EventID,DetectionThreshold\nE1,0.5\n",
    "glm": b";; c\n* copy_no_hit = 'T'\n[a b] => [c] / [ ] __ [ ] ;; d\n"
    b';; INPUT_DEPENDENT_APPLICATION="stm|ref"\nd => e\n',
    "labelled": b'query,document,label,score,decision\n"q",d,1,-1e-3,yes\nq,e,0,2,no\n',
    "trn": b"a (b) { c / @ } (s-1)\n(s-2)\n",
}
VALID["kwslist_texts"] = VALID["kwslist"]
"""One file of every format that its reader accepts."""
SNIPPETS = [
    *(
        b"<",
        b">",
        b"/>",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<?xml ",
        b"?>",
        b"<!DOCTYPE a [",
        b"]>",
        b"&",
        b"&#0;",
    ),
    *(
        b"<!ENTITY x 'y'>",
        b"&x;",
        b"'",
        b'"',
        b"=",
        b" ",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
        b"\xfe",
        b"\xef\xbb\xbf",
        b"\x80",
    ),
    *(
        b"<kw>",
        b"</kw>",
        b"<kwslist>",
        b"<term>",
        b"encoding='gbk'",
        b"encoding='x'",
        b"tbeg",
        b"NaN",
        b"inf",
        b"1e999",
        b"-1",
    ),
    *(
        b"<NA>",
        b";;",
        b"*",
        b"&a",
        b"*a",
        b"!!x",
        b"---",
        b"%YAML 9.9\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"- ",
        b"? ",
        b"|",
        b",",
    ),
    *(b'"\\U0011FFFF"', b"\xe2\x80\xa8", b"\xc2\x85", b"%TAG ! x\n", b"0" * 400, b"<<", b"''", b"#"),
]
"""What readers trip over: marks of every format, bytes of no encoding, numbers that are none."""
CONFIGS: dict[str, bytes] = {
    "evaluation": b"""name: x
protocol: sws2013
mode: official
settings: {tolerance_s: 0.5}
datasets:
  d: {ecf: e.xml, rttm: r.rttm, disclose: no_key, settings: {k_table: {p: indian_dev_dev}}}
query_sets: {p: {kwlist: k.xml, queries: q.csv}}
systems:
  pattern: 'out/{system}/{query_set}_{dataset}.xml'
  exclude: [w-*]
  a: {team: North, primary: false, canary: true}
overlays:
  - {withdraw_queries: [q1], query_sets: [p], author: A, date: 2013-09-01, reason: misspelt}
""",
    "study": b"""name: years
evaluations:
  old: {year: 2012, evaluation: e.yaml}
  new: {year: 2013, run: sws-2013~1, store: s3://bucket/store}
rescore:
  at-2013: {of: [old], protocol: sws2013, keep: [tolerance_s]}
  cheap: {settings: {c_fa: 2}}
published: [{file: t.csv, columns: {system: features}, measures: [mtwv], set: {year: 2022}}]
teams: {North Lab: [NL, North Laboratory]}
measures: [atwv, cnxe]
contrasts: [[old, new], [old, old=at-2013]]
sensitivity: {beta: [10, 1e2], p_target: [0.01], tolerance_s: [0.5, 1]}
resampling: {replicates: 200, seed: 7, level: 0.9, method: bca, strata: s.csv}
""",
    "season": b"""name: tiny
protocol: sws2013
pattern: '{query_set}_{dataset}.xml'
roster: roster.yaml
phases:
  eval:
    kind: eval
    evaluation: tiny-eval
    deadline: 2026-06-01T24:00 Europe/Madrid
    late: mark
    query_sets: [q]
    datasets: [d]
    inputs: {ecf: e.xml, kwlist: k.xml}
gate: {canaries: {perfect: 1, baseline: same}, most_shrunk: 0.1}
""",
    "roster": b"""teams:
  north: {name: North Lab, performer: true, contact: {email: n@x.example}}
  south: {name: South, institution: U}
""",
}
"""One file of every kind of settings; the files that they name are those of ``targets.Settings``."""
