import type { ApprovalSource } from '@consigliere/sdk';

const ORIGINS: Record<ApprovalSource['origin'], (name: string) => string> = {
  directive: (name) => `in the directive${name && ` of ${name}`}`,
  delegation: (name) => `handed on by ${name}`,
  context: () => 'in the context of the directive',
  workspace: () => 'from the workspace',
  standing_order: (name) => `in the standing order “${name}”`,
  forbidden: (name) => `unverified: named in an order that forbids it, “${name}”`,
  person: (name) => `written by ${name}`,
  unverified: () => 'unverified: only its author says so',
};
/** More of them are folded. */
const MOST_OPEN = 6;

/** Each recipient, link and amount of a field, with where it comes from. */
export function Sources({ id, sources }: { id: string; sources: readonly ApprovalSource[] }) {
  if (sources.length === 0) return null;
  const isUnverified = ({ origin }: ApprovalSource) => origin === 'unverified' || origin === 'forbidden';
  const unverified = sources.filter(isUnverified).length;
  const list = (
    <ul id={id} className="sources" aria-label="Where it comes from">
      {sources.map((source) => (
        <li
          key={`${source.kind} ${source.text}`}
          className={isUnverified(source) ? 'unverified' : source.origin}
        >
          <bdi>{source.text}</bdi> {ORIGINS[source.origin](source.name ?? '')}
        </li>
      ))}
    </ul>
  );
  if (sources.length <= MOST_OPEN) return list;
  return (
    <details>
      <summary>
        Where {sources.length} facts come from{unverified > 0 && `, ${unverified} of them unverified`}
      </summary>
      {list}
    </details>
  );
}
