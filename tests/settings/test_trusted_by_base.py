"""In a workflow, a pull request's file picks neither where a secret goes nor which one goes to the base's address."""

import pytest

from abs_gate.agents.auth import build_credentials
from abs_gate.errors import ConfigurationError
from abs_gate.judges import build_panel
from abs_gate.settings.compare import trust_base
from abs_gate.settings.load import load_settings
from abs_gate.transport import Transport
from abs_gate.vcs.worktree import WorkTree

JOB = {"AGENT_TOKEN": "s3cr3t-agent", "DEPLOY_KEY": "s3cr3t-deploy"}
BASE = """
version: 1
agent:
  url: http://a.example
  auth: {type: bearer, token_env: AGENT_TOKEN}
  headers_env: {X-Tenant: AGENT_TOKEN}
judges: [{url: 'http://j.example', token_env: AGENT_TOKEN}]
"""
OAUTH = """
version: 1
agent: {url: 'http://a.example', auth: {type: oauth2, token_url: 'http://t.example', client_id: c,
        client_secret_env: AGENT_TOKEN}}
"""


@pytest.fixture
def send(tmp_path):
    def load(text, **sources):
        (tmp_path / "abs-gate.yaml").write_text(text, "utf-8")
        return load_settings(WorkTree(tmp_path), None, **sources)

    def run(head, base=BASE, *, files_trusted=False, **sources):
        settings = trust_base(load(head, environ=JOB, **sources), load(base, resolve_secrets=False))
        agent = settings.agent
        with Transport() as transport:
            build_credentials(agent, agent.url, transport, files_trusted=files_trusted)
            build_panel(
                settings.judges, transport, environ=JOB, allow_commands=False, files_trusted=files_trusted, root="."
            )

    return run


def test_what_the_base_names_is_sent(send):
    send(BASE)
    send(OAUTH, OAUTH)
    send(BASE.replace("headers_env: {X-Tenant: AGENT_TOKEN}", ""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bearer, token_env: AGENT_TOKEN", "bearer, token_env: DEPLOY_KEY"),
        ("X-Tenant: AGENT_TOKEN", "X-Tenant: DEPLOY_KEY"),
        ("'http://j.example', token_env: AGENT_TOKEN", "'http://j.example', token_env: DEPLOY_KEY"),
    ],
)
def test_another_variable_at_the_base_s_address_is_refused(send, old, new):
    head = BASE.replace(old, new)
    with pytest.raises(ConfigurationError, match=r"DEPLOY_KEY is not sent to http://[aj]\.example") as caught:
        send(head)
    assert "s3cr3t" not in f"{caught.value} {caught.value.hint}"
    send(head, files_trusted=True)


def test_an_address_of_the_workflow_takes_what_the_file_names(send):
    given = {"flags": {"--agent": "http://w.example", "--judge": "http://w.example"}}
    send(BASE.replace("AGENT_TOKEN", "DEPLOY_KEY"), "version: 1\n", **given)


@pytest.mark.parametrize("flags", [{}, {"--agent": "http://w.example"}])
def test_a_moved_token_address_is_refused(send, flags):
    with pytest.raises(ConfigurationError, match=r"not sent to http://evil\.example"):
        send(OAUTH.replace("http://t.example", "http://evil.example"), OAUTH, flags=flags)
    send(OAUTH, OAUTH, flags=flags)
