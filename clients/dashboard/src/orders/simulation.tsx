import type { SimulatedChangeView, SimulationView, SuggestionSimulation } from '@consigliere/sdk';
import { Rows } from '../ui/list.js';

const OUTCOMES: Record<SimulatedChangeView['to'], string> = {
  allow: 'goes by itself',
  throttle: 'goes at a pace',
  require_approval: 'asks a person',
  deny: 'is denied',
};

/** What an order would have done to the mails and calls of the past, each by name. */
export function Changes({
  simulation,
}: {
  simulation: SuggestionSimulation & Partial<Pick<SimulationView, 'why'>>;
}) {
  const { considered, relaxed, stillAsks, escalated, relaxedIrreversible, changes, changesOmitted, why } =
    simulation;
  return (
    <>
      <p role="status">
        Of {considered} mails, calls and other acts decided before, {relaxed} would have gone without a person
        and {escalated} would have been stricter.
      </p>
      {stillAsks > 0 && (
        <p>
          This order would have let {stillAsks} more of the {considered} go, but a person was asked to look
          first. The next ones like {stillAsks === 1 ? 'it' : 'them'} go by themselves unless that is asked
          for.
        </p>
      )}
      {relaxedIrreversible > 0 && (
        <p className="warning">{relaxedIrreversible} of them cannot be taken back once they are out.</p>
      )}
      <Rows
        items={changes}
        empty={
          stillAsks > 0
            ? 'None of those decisions would have been different, since a person was asked for.'
            : (why ?? 'It would have changed none of them.')
        }
      >
        {({ workPacketId, tool, agent, title, recipient, from, to, why: because }) => (
          <li key={workPacketId}>
            <span className="title">{title ?? workPacketId}</span>
            <span className="facts">
              {recipient !== null && <span>to {recipient}</span>}
              {tool && <span>{tool}</span>}
              {agent && <span>{agent}</span>}
              <span>
                {OUTCOMES[from]} → <strong>{OUTCOMES[to]}</strong>
              </span>
              <span>{because}</span>
            </span>
          </li>
        )}
      </Rows>
      {changesOmitted > 0 && <p>And {changesOmitted} more.</p>}
    </>
  );
}
