" The transcript: the first sign of a line says what it is; the rest is a little Markdown.
if exists('b:current_syntax')
  finish
endif

syntax spell notoplevel

syntax match agentLsHead /\%1l^# .*/
syntax match agentLsUser /^▌.*/
syntax match agentLsQueued /^▏.*/
syntax match agentLsNotice /^▲.*/
syntax match agentLsThought /^[◌┊].*/
syntax match agentLsOutput /^│.*/
syntax match agentLsDiff /^┆.*/ contains=agentLsBar,agentLsAdded,agentLsRemoved,agentLsHunk
syntax match agentLsCardText /^┃.*/ contains=agentLsCardBar,agentLsCardHead,agentLsCardFoot,agentLsAdded,agentLsRemoved,agentLsHunk,agentLsCardCommand
syntax match agentLsBar /^┆/ contained
syntax match agentLsCardBar /^┃/ contained
syntax match agentLsCardHead /\%(^┃ \)\@<=#\d\+  .*/ contained
syntax match agentLsCardFoot /\%(^┃ \)\@<=\%(:Agent \|in \|Allow [^:]*: keeps the rule \).*/ contained
syntax match agentLsCardCommand /\%(^┃ \)\@<=\$ .*/ contained
syntax match agentLsAdded /\%(^[┆┃] \)\@<=+.*/ contained
syntax match agentLsRemoved /\%(^[┆┃] \)\@<=-.*/ contained
syntax match agentLsHunk /\%(^[┆┃] \)\@<=@@.*/ contained

syntax match agentLsCall /^[○◐●✗⊘] .*/ contains=agentLsDone,agentLsRunning,agentLsFailed,agentLsStopped,agentLsAside,agentLsCount
syntax match agentLsDone /^●/ contained
syntax match agentLsRunning /^[○◐]/ contained
syntax match agentLsFailed /^✗/ contained
syntax match agentLsStopped /^⊘/ contained
syntax match agentLsCount /  +\d\+ -\d\+/ contained
syntax match agentLsAside /  · .*/ contained contains=agentLsWaits
syntax match agentLsWaits /waits for you\%(: #\d\+\)\?/ contained

syntax match agentLsHeading /\%>1l^#\{1,6} .*/
syntax region agentLsFence matchgroup=agentLsMark start=/^\s*```.*$/ end=/^\s*```\s*$/ keepend
syntax match agentLsInline /`[^`]\+`/
syntax match agentLsStrong /\*\*[^*]\+\*\*/
syntax match agentLsBullet /^\s*\%([-*+]\|\d\+\.\) /
syntax sync minlines=200

highlight default link agentLsHead AgentLsHead
highlight default link agentLsUser AgentLsUser
highlight default link agentLsQueued AgentLsDim
highlight default link agentLsNotice AgentLsNotice
highlight default link agentLsThought AgentLsDim
highlight default link agentLsOutput AgentLsDim
highlight default link agentLsBar AgentLsDim
highlight default link agentLsCardBar AgentLsCard
highlight default link agentLsCardHead AgentLsCard
highlight default link agentLsCardFoot AgentLsDim
highlight default link agentLsCardCommand AgentLsCommand
highlight default link agentLsAdded AgentLsAdded
highlight default link agentLsRemoved AgentLsRemoved
highlight default link agentLsHunk AgentLsHunk
highlight default link agentLsDone AgentLsDone
highlight default link agentLsRunning AgentLsRunning
highlight default link agentLsFailed AgentLsFailed
highlight default link agentLsStopped AgentLsStopped
highlight default link agentLsCount AgentLsDim
highlight default link agentLsAside AgentLsDim
highlight default link agentLsWaits AgentLsCard
highlight default link agentLsHeading Title
highlight default link agentLsFence String
highlight default link agentLsMark Comment
highlight default link agentLsInline String
highlight default link agentLsStrong @markup.strong
highlight default link agentLsBullet Delimiter

let b:current_syntax = 'agent-ls'
