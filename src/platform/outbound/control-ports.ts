/** First and last port, and what listens there as a rule. */
type PortRange = readonly [first: number, last: number, service: string];

/**
 * Well-known ports of databases, queues and control planes above 1023. None of them receives events, and many obey any
 * client that reaches them (CONTRACT, Webhooks).
 */
const CONTROL_PORTS: readonly PortRange[] = [
  [1099, 1099, 'Java RMI'],
  [1433, 1434, 'SQL Server'],
  [1521, 1521, 'Oracle'],
  [1883, 1883, 'MQTT'],
  [2049, 2049, 'NFS'],
  [2181, 2181, 'ZooKeeper'],
  [2375, 2377, 'Docker and Swarm'],
  [2379, 2380, 'etcd'],
  [2483, 2484, 'Oracle'],
  [3260, 3260, 'iSCSI'],
  [3268, 3269, 'LDAP global catalogue'],
  [3306, 3306, 'MySQL'],
  [3389, 3389, 'Remote Desktop'],
  [4222, 4222, 'NATS'],
  [4369, 4369, 'Erlang port mapper'],
  [4646, 4648, 'Nomad'],
  [5432, 5433, 'PostgreSQL'],
  [5601, 5601, 'Kibana'],
  [5671, 5672, 'AMQP'],
  [5900, 5910, 'VNC'],
  [5984, 5984, 'CouchDB'],
  [5985, 5986, 'Windows Remote Management'],
  [6000, 6063, 'X11'],
  [6379, 6380, 'Redis'],
  [6432, 6432, 'PgBouncer'],
  [6443, 6443, 'Kubernetes'],
  [6660, 6669, 'IRC'],
  [7000, 7001, 'Cassandra, WebLogic'],
  [7199, 7199, 'Cassandra'],
  [7474, 7474, 'Neo4j'],
  [7687, 7687, 'Neo4j'],
  [8086, 8086, 'InfluxDB'],
  [8200, 8201, 'Vault'],
  [8300, 8302, 'Consul'],
  [8500, 8503, 'Consul'],
  [8600, 8600, 'Consul'],
  [8883, 8883, 'MQTT'],
  [9042, 9042, 'Cassandra'],
  [9092, 9094, 'Kafka'],
  [9142, 9142, 'Cassandra'],
  [9160, 9160, 'Cassandra'],
  [9200, 9200, 'Elasticsearch'],
  [9300, 9300, 'Elasticsearch'],
  [9418, 9418, 'Git'],
  [10248, 10259, 'Kubernetes'],
  [11211, 11211, 'Memcached'],
  [15671, 15672, 'RabbitMQ'],
  [16379, 16379, 'Redis'],
  [25672, 25672, 'RabbitMQ'],
  [26379, 26379, 'Redis'],
  [27017, 27020, 'MongoDB'],
  [28015, 28015, 'RethinkDB'],
  [28017, 28017, 'MongoDB'],
  [33060, 33060, 'MySQL'],
  [50000, 50000, 'Db2'],
  [50070, 50070, 'HDFS'],
  [61616, 61616, 'ActiveMQ'],
];

/** Whether a receiver of events may listen at `port`: 443, or above 1023 except {@link CONTROL_PORTS}. */
export function isReceiverPort(port: number): boolean {
  if (port < 1024) return port === 443;
  return !CONTROL_PORTS.some(([first, last]) => first <= port && port <= last);
}
