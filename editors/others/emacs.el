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

;; Emacs 28 mixes up messages that come while it answers one (its bug 60088), and leaves unread what came together with
;; a reply that it waited for: from then on every request times out.  Emacs 29 brings a newer jsonrpc.
(defun agent-ls--in-turn (filter process string)
  "Give STRING from PROCESS to FILTER once what came before it has been dealt with."
  (if (not (cl-typep (process-get process 'jsonrpc-connection) 'agent-ls-server))
      (funcall filter process string)
    (process-put process 'agent-ls-unread (append (process-get process 'agent-ls-unread) (list string)))
    (unless (process-get process 'agent-ls-reading)
      (let (done)
        (process-put process 'agent-ls-reading t)
        (unwind-protect
            (let (unread)
              (while (setq unread (process-get process 'agent-ls-unread))
                (process-put process 'agent-ls-unread (cdr unread))
                (funcall filter process (car unread)))
              (setq done t))
          (process-put process 'agent-ls-reading nil)
          (unless done
            (run-at-time 0 nil #'agent-ls--in-turn filter process "")))))))

(when (< emacs-major-version 29)
  (advice-add 'jsonrpc--process-filter :around #'agent-ls--in-turn))

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
