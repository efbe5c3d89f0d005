import { mayAct, useMe } from '../me.js';
import { Loaded } from '../ui/list.js';
import { Parts } from './parts.js';
import { useSetup } from './use-setup.js';

/** How the service is set up, with a test of each part. */
export function ServicePage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  return (
    <div className="page">
      <h1>The service</h1>
      {mayAct(me, 'admin') ? (
        <Service />
      ) : (
        <p className="empty">Only admins set up the service. Ask one of them.</p>
      )}
    </div>
  );
}

function Service() {
  return <Loaded query={useSetup()}>{(data) => <Parts setup={data} />}</Loaded>;
}
