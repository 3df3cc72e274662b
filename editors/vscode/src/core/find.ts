// Where to look for agent-ls, in which order, and what may not be run.
//
// Owns that no program of a workspace is started before the person trusts it. Does not own looking (daemon.ts). Pure.

export interface Places {
  readonly setting: string;
  /** `$AGENT_LS_CMD`. */
  readonly variable: string;
  readonly path: readonly string[];
  readonly trusted: boolean;
  /** Folders of the workspace. */
  readonly folders: readonly string[];
  /** The interpreter that the Python extension has chosen. */
  readonly interpreter: string | undefined;
  readonly home: string;
}

export interface Candidate {
  readonly file: string;
  readonly origin: 'setting' | 'variable' | 'path' | 'venv' | 'python' | 'home';
}

const NAME = 'agent-ls';

/** Best first. A setting that was made is the only one: the person said which. */
export function candidates(places: Places): Candidate[] {
  const chosen = places.setting.trim();
  if (chosen !== '') {
    return named(chosen, places).map((file) => ({ file, origin: 'setting' }));
  }
  const found: Candidate[] = named(places.variable, places).map((file) => ({ file, origin: 'variable' }));
  found.push(...onPath(NAME, places).map((file) => ({ file, origin: 'path' }) as const));
  if (places.trusted) {
    places.folders.forEach((folder) => found.push({ file: `${folder}/.venv/bin/${NAME}`, origin: 'venv' }));
    if (places.interpreter?.includes('/')) {
      found.push({ file: `${places.interpreter.replace(/\/[^/]*$/, '')}/${NAME}`, origin: 'python' });
    }
  }
  found.push({ file: `${places.home}/.local/bin/${NAME}`, origin: 'home' });
  return found;
}

/** What a person wrote: a place, a place in the workspace, or a name that is on the PATH. */
function named(given: string, places: Places): string[] {
  const file = given.startsWith('~/') ? places.home + given.slice(1) : given;
  const folder = file.replace(/^(\$\{workspaceFolder\}|\.)\//, '');
  if (file === '' || file.startsWith('/')) {
    return file === '' ? [] : [file];
  }
  return folder.includes('/') || folder !== file ? (places.trusted ? places.folders.map((one) => `${one}/${folder}`) : []) : onPath(file, places);
}

function onPath(name: string, places: Places): string[] {
  const inside = (file: string): boolean => places.folders.some((folder) => file.startsWith(`${folder}/`));
  // A relative entry means the workspace, and so may one that was put on the PATH by a shell's hook.
  return places.path.filter((folder) => folder.startsWith('/') && (places.trusted || !inside(`${folder}/`))).map((folder) => `${folder}/${name}`);
}
