import type { Briefing, Draft } from './briefing.js';

/**
 * Gives every mail of a draft the Reply-To of the workspace, and takes away any that the runner wrote: where answers go is
 * the workspace's to say. It becomes part of the work packet instead of being looked up when the mail is sent, so a person
 * sees it, the approval is bound to it, and a later change of the settings changes no mail that was approved.
 */
export function withReplyTo(draft: Draft, { sender }: Pick<Briefing, 'sender'>): Draft {
  const packets = draft.packets.map((packet) => {
    if (packet.type !== 'email.send') return packet;
    const { replyTo: _runners, ...params } = packet.params;
    return { ...packet, params: sender.replyTo === null ? params : { ...params, replyTo: sender.replyTo } };
  });
  return { ...draft, packets };
}
