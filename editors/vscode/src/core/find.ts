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
    return [{ file: expand(chosen, places.home), origin: 'setting' }];
  }
  const found: Candidate[] = [];
  if (places.variable !== '') {
    found.push({ file: places.variable, origin: 'variable' });
  }
  const inside = (file: string): boolean => places.folders.some((folder) => file.startsWith(`${folder}/`));
  for (const folder of places.path) {
    // A relative entry means the workspace, and so may one that was put on the PATH by a shell's hook.
    if (folder.startsWith('/') && (places.trusted || !inside(`${folder}/`))) {
      found.push({ file: `${folder}/${NAME}`, origin: 'path' });
    }
  }
  if (places.trusted) {
    places.folders.forEach((folder) => found.push({ file: `${folder}/.venv/bin/${NAME}`, origin: 'venv' }));
    if (places.interpreter?.includes('/')) {
      found.push({ file: `${places.interpreter.replace(/\/[^/]*$/, '')}/${NAME}`, origin: 'python' });
    }
  }
  found.push({ file: `${places.home}/.local/bin/${NAME}`, origin: 'home' });
  return found;
}

function expand(file: string, home: string): string {
  return file === '~' || file.startsWith('~/') ? home + file.slice(1) : file;
}
