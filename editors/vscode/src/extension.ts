// The extension's beginning and end: puts the parts together.
//
// Owns the one context object (context.ts) and what happens when a link is greeted. Does not own any part.

import * as vscode from 'vscode';

import { Answers } from './approvals/answers';
import { ApprovalCommands } from './approvals/commands';
import { Comments } from './approvals/comments';
import { Editing } from './approvals/editing';
import { ApprovalLenses } from './approvals/lenses';
import { ApprovalsTree } from './approvals/tree';
import { Link } from './client';
import { registerCommands } from './commands';
import type { Agent } from './context';
import { Attachments } from './conversations/attachments';
import { Chat } from './conversations/chat';
import { ConversationCommands } from './conversations/commands';
import { ChatDeeds } from './conversations/deeds';
import { Follow } from './conversations/follow';
import { Speaking } from './conversations/speaking';
import { Summaries } from './conversations/summaries';
import { ConversationsTree } from './conversations/tree';
import { followUsage } from './conversations/usage';
import { RequestBook } from './core/requests';
import { shareLanguage } from './language';
import { LocksTree } from './locks/tree';
import { Memory } from './memory';
import { Papers } from './papers';
import { Changes } from './review/changes';
import { Review } from './review/review';
import { ChangesTree } from './review/tree';
import { registerRules } from './rules';
import { Status } from './status';
import { Voice } from './voice';
import { serve } from './window';

let link: Link | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const { agent, parts } = compose(context);
  link = agent.link;
  context.subscriptions.push(...parts);
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(() => void agent.link.restart()),
    // Installed elsewhere meanwhile.
    vscode.window.onDidChangeWindowState(({ focused }) => focused && void agent.link.look()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void agent.link.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('agentLs.command') && void agent.link.restart()),
  );
  agent.log.info(`extension host ${process.pid}`);
  await agent.link.start();
}

export async function deactivate(): Promise<void> {
  await link?.stop();
}

function compose(context: vscode.ExtensionContext): { agent: Agent; parts: vscode.Disposable[] } {
  const log = vscode.window.createOutputChannel('agent-ls', { log: true });
  const asked = new vscode.EventEmitter<void>();
  const connection = new Link(log, (context.extension.packageJSON as { version: string }).version);
  const memory = new Memory(context.storageUri?.fsPath);
  const follow = new Follow(connection, memory);
  const book = new RequestBook();
  const voice = new Voice(log);
  const agent: Agent = {
    context,
    log,
    link: connection,
    book,
    onRequests: asked.event,
    summaries: new Summaries(connection),
    follow,
    answers: new Answers({ book, link: connection, voice }),
    changes: new Changes(connection, follow),
    papers: new Papers(),
    memory,
    voice,
  };
  const attachments = new Attachments(voice);
  const chat = new Chat(agent, attachments);
  voice.onSaid((sentence) => chat.post({ type: 'say', sentence }));
  listen(agent, asked);
  return { agent, parts: [log, asked, voice, agent.summaries, follow, agent.changes, agent.papers, attachments, chat, ...shown(agent, chat, attachments)] };
}

/** What is greeted anew follows everything anew. */
function listen(agent: Agent, asked: vscode.EventEmitter<void>): void {
  agent.link.onSaid((sentence) => agent.voice.say(sentence));
  agent.link.on('agent/request/changed', (params) => {
    const difference = agent.book.update(params, performance.now());
    asked.fire();
    void agent.answers.retracted(difference);
  });
  const greeted = async (): Promise<void> => {
    await agent.summaries.load();
    await agent.follow.resume(agent.summaries.all()[0]?.id);
  };
  agent.link.on('agent/hello', () => void greeted());
}

function shown(agent: Agent, chat: Chat, attachments: Attachments): vscode.Disposable[] {
  const speaking = new Speaking(agent, attachments);
  chat.deeds = new ChatDeeds(agent, chat, speaking, attachments);
  const tree = new ApprovalsTree(agent);
  const comments = new Comments(agent);
  const editing = new Editing(agent);
  const approvals = new ApprovalCommands(agent, {
    tree,
    comments,
    editing,
    chatShows: (id) => chat.shows(id),
    focusChat: () => chat.compose(),
  });
  return [
    tree,
    comments,
    editing,
    new ApprovalLenses(agent),
    new ConversationsTree(agent),
    new ChangesTree(agent),
    new Review(agent),
    new LocksTree(agent),
    new Status(agent),
    ...approvals.register(),
    ...new ConversationCommands(agent, chat, speaking, attachments).register(),
    ...registerCommands(agent),
    ...registerRules(agent),
    ...serve(agent),
    ...shareLanguage(agent),
    ...followUsage(agent, chat),
  ];
}
