;;; agent-ls.el --- agent-ls through Eglot  -*- lexical-binding: t; -*-

;; For Emacs 29 or newer, or Emacs 28 with Eglot 1.9 of a package archive. Load it from your init file:
;;
;;   (load "/path/to/editors/others/emacs.el")
;;
;; docs/emacs.md says what you can do then, and how to have agent-ls beside the language server of a buffer.

;;; Code:

(require 'eglot)

(defclass agent-ls-server (eglot-lsp-server) ()
  :documentation "The daemon of agent-ls, by way of `agent-ls connect'.")

(cl-defmethod eglot-initialization-options ((_server agent-ls-server))
  "Under which name others see who answered."
  '(:agentLs (:client "Emacs")))

;; What the agent changes was allowed before. A question here would come while you type.
(cl-defmethod eglot-handle-request :around ((_server agent-ls-server) (_method (eql workspace/applyEdit)) &rest _)
  "Make the edit without asking a second time."
  (let ((eglot-confirm-server-initiated-edits nil)
        (eglot-confirm-server-edits nil))
    (cl-call-next-method)))

(defun agent-ls-beside (&rest command)
  "The contact of COMMAND, a server of yours, and agent-ls as one, for `eglot-server-programs'.
Rassumfrassum (`rass') has to be on the `exec-path'."
  `(agent-ls-server "rass" "--log-level" "warn" "--" ,@command "--" "agent-ls" "connect"))

(define-derived-mode agent-ls-conversation-mode text-mode "Agent"
  "The transcript of a conversation, or the prompt beside it.")

(add-to-list 'auto-mode-alist
             '("/conversations/[^/]+\\.md\\'" . agent-ls-conversation-mode))

(add-to-list 'eglot-server-programs
             '((agent-ls-conversation-mode text-mode) . (agent-ls-server "agent-ls" "connect")))

(add-hook 'agent-ls-conversation-mode-hook #'eglot-ensure)

(provide 'agent-ls)
;;; emacs.el ends here
