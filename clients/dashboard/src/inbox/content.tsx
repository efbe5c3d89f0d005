import type { ApprovalView } from '@consigliere/sdk';
import { UnseenWarning } from '../ui/unseen.js';
import { confirmationOf, DOCUMENT, EDITABLE, faultOf, type Field, fieldsOf, isMissing } from './edits.js';

interface Given {
  approval: ApprovalView;
  isOpen: boolean;
  typed: Record<string, string>;
  type: (field: string, value: string) => void;
}

/** What will leave, field by field; a person may change it while the approval waits. */
export function Content({ approval, isOpen, typed, type }: Given) {
  const { kind, packets, output } = approval;
  const mayEdit = isOpen && EDITABLE.has(kind);
  if (packets.length === 0 && output) {
    return mayEdit ? (
      <>
        <label>
          Text
          <textarea
            aria-keyshortcuts="e"
            value={typed[DOCUMENT] ?? output.body}
            onChange={({ target }) => type(DOCUMENT, target.value)}
          />
        </label>
        <UnseenWarning text={typed[DOCUMENT] ?? output.body} />
      </>
    ) : (
      <pre className="output">{output.body}</pre>
    );
  }
  return (
    <>
      {packets.map((packet, at) => (
        <fieldset key={packet.workPacketId} disabled={!mayEdit}>
          <legend>{packet.title}</legend>
          <p className="facts">
            <span>{packet.action.type}</span>
            {packet.action.target && <span>{packet.action.target}</span>}
            <span>written by {WRITERS[packet.writtenBy]}</span>
          </p>
          {fieldsOf(packet).map((field, place) => (
            <Input key={field.id} field={field} typed={typed} type={type} isFirst={at === 0 && place === 0} />
          ))}
        </fieldset>
      ))}
      {output?.remarks && <p className="claim">{output.remarks.text}</p>}
    </>
  );
}

function Input({
  field,
  typed,
  type,
  isFirst,
}: Pick<Given, 'typed' | 'type'> & { field: Field; isFirst: boolean }) {
  const { id, label, value, kind, isLong, question } = field;
  const shown = typed[id] ?? value;
  const fault = faultOf(field, typed);
  const isLacking = isMissing(field, typed);
  const given = {
    value: shown,
    'aria-invalid': isLacking || fault !== undefined || undefined,
    'aria-keyshortcuts': isFirst ? 'e' : undefined,
    onChange: ({ target }: { target: { value: string } }) => type(id, target.value),
  };
  const className = [isLacking || fault ? 'missing' : '', kind === 'json' ? 'code' : ''].join(' ').trim();
  return (
    <>
      <label className={className || undefined}>
        {label}
        {question && <span className="quiet"> {question}</span>}
        {fault && <span> {fault}</span>}
        {isLong ? (
          <textarea {...given} />
        ) : (
          <input {...given} inputMode={kind === 'number' ? 'decimal' : undefined} />
        )}
      </label>
      <UnseenWarning text={shown} />
      {question !== undefined && value.trim() !== '' && shown === value && (
        <label className="check">
          <input
            type="checkbox"
            checked={!!typed[confirmationOf(id)]}
            onChange={({ target }) => type(confirmationOf(id), target.checked ? 'yes' : '')}
          />
          {label} is right as it stands
        </label>
      )}
    </>
  );
}

const WRITERS: Record<ApprovalView['packets'][number]['writtenBy'], string> = {
  agent: 'an agent',
  capo: 'a capo',
  model: 'a model',
  person: 'a person',
};
