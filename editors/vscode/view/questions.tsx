// Questions of the agent, each with its choices or a line for words of one's own, answered together.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { tell } from './host';
import { escaped, oneLine, word } from '../src/core/display';
import type { Request } from '../src/protocol.gen';

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
}

export interface Asked {
  readonly id: string;
  readonly text: string;
  readonly options: readonly Choice[];
  readonly multi: boolean;
  readonly free: boolean;
}

type Answers = Record<string, string | string[]>;

/** A request without questions of its own asks one, with its options as choices. */
export function askedOf(request: Request): Asked[] {
  return (request.questions ?? []).map((question, at) => {
    const options = (Array.isArray(question['options']) ? question['options'] : []) as Choice[];
    return {
      id: word(question['id'], String(at)),
      text: word(question['text'] ?? question['header']),
      options,
      multi: question['multi'] === true,
      free: question['free'] === true || options.length === 0,
    };
  });
}

/** The answers to all of them; undefined while one is missing. */
export function answersOf(asked: readonly Asked[], chosen: Record<string, readonly string[]>, words: Record<string, string>): Answers | undefined {
  const answers: Answers = {};
  for (const { id, multi } of asked) {
    const own = (words[id] ?? '').trim();
    const said = [...(chosen[id] ?? []), ...(own === '' ? [] : [own])];
    const first = said.at(-1);
    if (first === undefined) {
      return undefined;
    }
    answers[id] = multi ? said : first;
  }
  return answers;
}

export function Questions({ request, fresh }: { readonly request: Request; readonly fresh: boolean }): JSX.Element {
  const [chosen, setChosen] = useState<Record<string, readonly string[]>>({});
  const [words, setWords] = useState<Record<string, string>>({});
  const asked = askedOf(request);
  const answers = answersOf(asked, chosen, words);
  const ready = answers !== undefined && !fresh;
  const said = { type: 'answer', requestId: request.id, digest: request.digest } as const;
  const choose = ({ id, multi }: Asked, option: string): void => {
    const held = chosen[id] ?? [];
    const next = !multi ? [option] : held.includes(option) ? held.filter((one) => one !== option) : [...held, option];
    setChosen({ ...chosen, [id]: next });
    if (!multi) {
      setWords({ ...words, [id]: '' });
    }
  };
  const write = ({ id, multi }: Asked, value: string): void => {
    setWords({ ...words, [id]: value });
    if (!multi) {
      setChosen({ ...chosen, [id]: [] });
    }
  };
  return (
    <form onSubmit={(event) => (event.preventDefault(), ready && tell({ ...said, decision: 'answer', answers }))}>
      {asked.length === 0 && <Plain request={request} fresh={fresh} />}
      {asked.map((one) => (
        <Question key={one.id} asked={one} name={`${request.id}/${one.id}`} chosen={chosen[one.id] ?? []} words={words[one.id] ?? ''} choose={choose} write={write} />
      ))}
      {asked.length > 0 && (
        <div class="answers">
          <button class="primary" type="submit" aria-disabled={!ready}>
            Answer
          </button>
          <button type="button" aria-disabled={fresh} onClick={() => !fresh && tell({ ...said, decision: 'deny' })}>
            Do not answer
          </button>
        </div>
      )}
    </form>
  );
}

interface QuestionProps {
  readonly asked: Asked;
  readonly name: string;
  readonly chosen: readonly string[];
  readonly words: string;
  readonly choose: (asked: Asked, option: string) => void;
  readonly write: (asked: Asked, value: string) => void;
}

function Question({ asked, name, chosen, words, choose, write }: QuestionProps): JSX.Element {
  return (
    <fieldset>
      <legend>{escaped(asked.text)}</legend>
      {asked.options.map((option) => (
        <label key={option.id} class="choice">
          <input type={asked.multi ? 'checkbox' : 'radio'} name={name} checked={chosen.includes(option.id)} onChange={() => choose(asked, option.id)} />
          <span>
            {oneLine(option.label, 200)}
            {option.description !== undefined && <span class="dim"> {oneLine(option.description, 300)}</span>}
          </span>
        </label>
      ))}
      {asked.free && (
        <input class="reason" value={words} placeholder={asked.options.length === 0 ? 'Your answer' : 'Or in your own words'} aria-label="Your own words" onInput={(event) => write(asked, event.currentTarget.value)} />
      )}
    </fieldset>
  );
}

/** A question that the daemon asks by itself, such as whether a lost command is to be run again. */
function Plain({ request, fresh }: { readonly request: Request; readonly fresh: boolean }): JSX.Element {
  const said = { type: 'answer', requestId: request.id, digest: request.digest } as const;
  return (
    <div class="answers">
      {request.options.map((option) => (
        <button key={option.id} type="button" aria-disabled={fresh} onClick={() => !fresh && tell({ ...said, decision: option.decision, optionId: option.id })}>
          {oneLine(option.label, 80)}
        </button>
      ))}
    </div>
  );
}
