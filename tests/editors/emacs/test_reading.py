"""How Emacs 28 reads what a server says, with editors/others/emacs.el: nothing is mixed up, nothing waits."""

import subprocess
from subprocess import PIPE, STDOUT

import pytest

from tests.editors.emacs.emacs import PACKAGES, SNIPPET, missing

pytestmark = [pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.timeout(60)]

# A server that says nothing by itself: what comes from it is what the test gives to the filter of its process.
_PLAY = f"""(progn
  {PACKAGES}
  (load "{SNIPPET}" nil t)
  (defvar heard nil)
  (defvar on-hearing (lambda (_)))
  (defun said (method)
    (let ((body (format "{{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"%s\\",\\"params\\":{{}}}}" method)))
      (format "Content-Length: %d\\r\\n\\r\\n%s" (length body) body)))
  (setq link (make-instance 'agent-ls-server :name "played"
               :process (lambda () (make-process :name "played" :command '("cat") :connection-type 'pipe :noquery t))
               :notification-dispatcher (lambda (_ method &rest _)
                                          (push (symbol-name method) heard)
                                          (funcall on-hearing (symbol-name method)))))
  (setq process (jsonrpc--process link))
  (defun comes (text) (funcall (process-filter process) process text))
  <script>
  (accept-process-output nil 0.1)
  (princ (mapconcat #'identity (reverse heard) " ")))"""


def played(script: str) -> str:
    command = ["emacs", "-q", "--batch", "--eval", _PLAY.replace("<script>", script)]
    done = subprocess.run(command, stdout=PIPE, stderr=STDOUT, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_what_comes_while_a_message_is_dealt_with_is_read_after_it() -> None:
    script = """
      (setq on-hearing (lambda (method)
              (when (equal method "one") (comes (concat (substring (said "two") 30) (said "three"))))))
      (comes (concat (said "one") (substring (said "two") 0 30)))"""
    assert played(script) == "one two three"


def test_what_came_together_with_the_reply_that_was_waited_for_does_not_wait_for_more() -> None:
    script = """
      (setq on-hearing (lambda (method) (when (equal method "one") (throw 'waited t))))
      (catch 'waited (comes (concat (said "one") (said "two") (said "three"))))"""
    assert played(script) == "one two three"
