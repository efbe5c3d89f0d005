import type pg from 'pg';

/**
 * Calls `onChange` with the id of each approval whose draft has become ready, or that was decided, at the moment when the
 * service tells its own processes.
 */
export async function listenForApprovals(
  client: pg.Client,
  onChange: (approvalId: string) => void,
): Promise<void> {
  client.on('notification', ({ payload }) => {
    const { topic, id } = JSON.parse(payload!) as { topic: string; id: string };
    if (topic === 'approval') onChange(id);
  });
  await client.query('listen consigliere');
}
