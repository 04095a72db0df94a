"""EXP-IDs of each year: fields by name, and what is said of a name that does not follow its rule."""

from __future__ import annotations

import pytest

from pipeline.protocols.med.names import GRAMMARS, identify

RULES = {grammar.year: grammar for grammar in GRAMMARS}


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("NIST_MED11_MED11TEST_MEDFull_AutoEAG_p-base_1", {"team": "NIST", "medtype": "MEDFull", "sysid": "p-base"}),
        ("A_MED12_MED12TEST_PS_MEDPart_EKFull_SemiAutoEAG_c-x_3", {"task": "PS", "board": "PS+MEDPart+EKFull"}),
        ("A_MED13_FullSys_PROGAll_AH_100Ex_2", {"sys": "FullSys", "board": "FullSys+AH+100Ex"}),
        ("A_MED15_MED15EvalFull_PS_10Ex_LRG_p-b2_1", {"smghw": "LRG", "ektype": "10Ex"}),
        ("A_MED17_MED17EvalFull_AH_10Ex_SML_c-z_1", {"search": "MED17EvalFull"}),
    ],
)
def test_the_fields_of_a_name(name, fields):
    seen = identify(name)
    assert {field: seen[field] for field in fields} == fields
    assert seen["board"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("NIST_MED11_DRYRUN_MEDFull_AutoEAG_base_1", "<SYSID> is 'base' (allowed: [pc]-[^_]+)"),
        ("NIST_MED11_DRYRUN_MEDFull_Auto..._p-x_1", "<EAG> is 'Auto...' (allowed: AutoEAG|SemiAutoEAG)"),
        ("NIST_MED11_DRYRUN_MEDFull_AutoEAG_p-x_20", "<VERSION> is '20' (allowed: [1-9]|1\\d)"),
        ("NIST_MED11_DRYRUN_MEDFull_AutoEAG_p-x", "has 6 fields (allowed: <TEAM>_<TAG>_<DATA>_"),
        ("_MED11_DRYRUN_MEDFull_AutoEAG_p-x_1", "<TEAM> is ''"),
    ],
)
def test_what_does_not_follow_the_rule(name, told):
    assert identify(name) == {}
    assert any(told in fault for fault in RULES["11"].faults(name))


def test_a_name_that_follows_the_rule_has_no_fault():
    assert RULES["11"].faults("NIST_MED11_DEVT_MEDPart_SemiAutoEAG_c-x_19") == []
