import type { ApprovalSource, ApprovalView, ShownApproval } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { client } from '../session.js';
import { UnseenWarning } from '../ui/unseen.js';
import { confirmationOf, EDITABLE, faultOf, type Field, fieldsOf, isMissing } from './edits.js';
import { Sources } from './sources.js';

interface Given {
  approval: ApprovalView;
  isOpen: boolean;
  typed: Record<string, string>;
  type: (field: string, value: string) => void;
}

/** What will leave, field by field; a person may change it while the approval waits. */
export function Content({ approval, isOpen, typed, type }: Given) {
  const { kind, packets, output, sources } = approval;
  const mayEdit = isOpen && EDITABLE.has(kind);
  if (packets.length === 0) return output && <pre className="output">{output.body}</pre>;
  return (
    <>
      {output?.remarks && <p className="claim">{output.remarks.text}</p>}
      {packets.map((packet, at) => (
        <fieldset key={packet.workPacketId} disabled={!mayEdit}>
          <legend>{packet.title}</legend>
          <p className="facts">
            <span>{packet.action.type}</span>
            {packet.action.target && <span>{packet.action.target}</span>}
            <span>written by {WRITERS[packet.writtenBy]}</span>
          </p>
          {fieldsOf(packet, kind).map((field, place) => (
            <Input
              key={field.id}
              field={field}
              sources={sources.filter(
                ({ workPacketId, path }) =>
                  workPacketId === packet.workPacketId && path === `params.${field.name}`,
              )}
              typed={typed}
              type={type}
              isFirst={at === 0 && place === 0}
            />
          ))}
        </fieldset>
      ))}
    </>
  );
}

/** What would leave, to be read and not changed. */
export function Shown({ approval: { kind, packets, output } }: { approval: ShownApproval }) {
  if (packets.length === 0) return output && <pre className="output">{output.body}</pre>;
  return packets.map((packet) => (
    <section key={packet.workPacketId}>
      <p className="facts">
        <span>{packet.action.type}</span>
        {packet.action.target && <span>{packet.action.target}</span>}
      </p>
      <dl>
        {fieldsOf(packet, kind).map(({ id, label, type, value }) => (
          <div key={id}>
            <dt>
              {label}
              {type && <span className="quiet"> {type}</span>}
            </dt>
            <dd className="output">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  ));
}

/** A field that is as tall as its text: nothing that is approved stands out of sight. */
function Whole({ isLong, value, ...given }: ComponentProps<'textarea'> & { isLong: boolean; value: string }) {
  return (
    <span className="whole" data-text={value}>
      <textarea
        {...given}
        value={value}
        rows={isLong ? 5 : 1}
        onKeyDown={(event) => !isLong && event.key === 'Enter' && event.preventDefault()}
      />
    </span>
  );
}

function Input({
  field,
  sources,
  typed,
  type,
  isFirst,
}: Pick<Given, 'typed' | 'type'> & { field: Field; sources: readonly ApprovalSource[]; isFirst: boolean }) {
  const { id, label, value, kind, type: typeName, isLong, question } = field;
  const shown = typed[id] ?? value;
  const fault = faultOf(field, typed);
  const isLacking = isMissing(field, typed);
  const given = {
    value: shown,
    'aria-describedby': sources.length > 0 ? `${id}-sources` : undefined,
    'aria-invalid': isLacking || fault !== undefined || undefined,
    'aria-keyshortcuts': isFirst ? 'e' : undefined,
    onChange: ({ target }: { target: { value: string } }) => type(id, target.value),
  };
  const className = [isLacking || fault ? 'missing' : '', kind === 'json' ? 'code' : ''].join(' ').trim();
  return (
    <>
      <label className={className || undefined}>
        {label}
        {typeName && <span className="quiet"> {typeName}</span>}
        {question && <span className="quiet"> {question}</span>}
        {fault && <span> {fault}</span>}
        <Whole {...given} isLong={isLong} inputMode={kind === 'number' ? 'decimal' : undefined} />
      </label>
      <UnseenWarning text={shown} />
      {label === 'Text' && question !== undefined && !value.trim() && (
        <AddSignature text={shown} onAdd={(signed) => type(id, signed)} />
      )}
      <Sources id={`${id}-sources`} sources={sources} />
      {sources.length > 0 && shown !== value && (
        <p className="quiet">You have changed this: what is new in it comes from you.</p>
      )}
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

/** A text that a person words has no signature yet, and goes out as it stands here. */
function AddSignature({ text, onAdd }: { text: string; onAdd: (signed: string) => void }) {
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => client.settings.get() });
  const signature = settings.data?.sender.signature?.trim();
  if (!signature || text.trimEnd().endsWith(signature)) return null;
  return (
    <button type="button" onClick={() => onAdd(`${text.trimEnd()}\n\n${signature}`)}>
      Add the signature
    </button>
  );
}

const WRITERS: Record<ApprovalView['packets'][number]['writtenBy'], string> = {
  agent: 'an agent',
  capo: 'a capo',
  model: 'a model',
  person: 'a person',
};
