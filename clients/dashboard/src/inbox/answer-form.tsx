import type { ApprovalView } from '@consigliere/sdk';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { mayAct, useMe } from '../me.js';
import { client } from '../session.js';
import { Failure } from '../ui/failure.js';
import type { useTyped } from '../ui/typed.js';
import { AnswerField, answerOf, type AnswerSchema } from './answer-field.js';

interface Given extends ReturnType<typeof useTyped> {
  approval: ApprovalView;
  isOpen: boolean;
  onDecided: (status: string) => Promise<unknown>;
}

/** What an agent asks, in its own words, and the form of the answer that it wants. */
export function AnswerForm({ approval, isOpen, typed, type, forget, onDecided }: Given) {
  const { approvalId, question, contentHash, requestedBy, teamId } = approval;
  const me = useMe();
  const schema = question!.answerSchema as unknown as AnswerSchema;
  const feedback = typed['feedback'] ?? '';
  const respond = useMutation({
    mutationFn: async (how: 'answer' | 'decline') => {
      if (how === 'decline')
        return client.approvals.reject(approvalId, { feedback }, { ifMatch: contentHash! });
      return client.questions.respond(
        approvalId,
        { answer: answerOf(schema, typed) },
        { ifMatch: contentHash! },
      );
    },
    onSuccess: async () => {
      forget();
      await onDecided('approved');
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    respond.mutate('answer');
  };
  const mayAnswer = isOpen && mayAct(me, 'operator', teamId);
  return (
    <form onSubmit={submit}>
      <p className="claim">
        {requestedBy.name} asks: “{question!.title}”
      </p>
      {question!.reason && <p className="claim">Its reason: “{question!.reason}”</p>}
      {respond.error && <Failure error={respond.error} />}
      <fieldset disabled={!mayAnswer}>
        <legend>Answer</legend>
        {Object.entries(schema.properties).map(([name, field], at) => (
          <AnswerField
            key={name}
            name={name}
            field={field}
            isRequired={schema.required?.includes(name) ?? false}
            isFirst={at === 0}
            typed={typed[name]}
            onType={(value) => type(name, value)}
          />
        ))}
        <button type="submit" className="primary" disabled={respond.isPending}>
          Answer
        </button>
      </fieldset>
      {mayAnswer && (
        <>
          <label>
            Why you do not answer
            <textarea
              aria-keyshortcuts="r"
              value={feedback}
              onChange={({ target }) => type('feedback', target.value)}
              maxLength={10_000}
            />
          </label>
          <button
            type="button"
            className="danger"
            disabled={respond.isPending || !feedback.trim()}
            onClick={() => respond.mutate('decline')}
          >
            Decline
          </button>
        </>
      )}
      {me && isOpen && !mayAnswer && <p className="quiet">You may read this. Only operators answer it.</p>}
    </form>
  );
}
