// Links in text of others: what they may lead to.
//
// Owns that nothing but the web and files is ever opened: no command, no other program. Pure.

export type Target =
  | { readonly kind: 'web'; readonly href: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number | undefined };

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const PLACE = /(?::(\d{1,7})(?::\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)$/;

/** undefined: dead. */
export function linkOf(href: string): Target | undefined {
  const given = href.trim();
  if (given === '' || given.length > 2000 || /[\p{Cc}\p{Cf}]/u.test(given)) {
    return undefined;
  }
  if (/^https?:\/\/[^/\s]/i.test(given) || /^mailto:[^\s]/i.test(given)) {
    return { kind: 'web', href: given };
  }
  const place = PLACE.exec(given);
  const path = decoded(given.replace(PLACE, '').replace(/^file:\/\/(?=\/)/i, ''));
  if (path === undefined || path === '' || SCHEME.test(path) || path.startsWith('//') || path.startsWith('#')) {
    return undefined;
  }
  return { kind: 'file', path, line: place === null ? undefined : Number(place[1] ?? place[2]) };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
