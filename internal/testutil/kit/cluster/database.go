package cluster

import (
	_ "embed"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseCRD is the definition of [Databases], in YAML.
//
//go:embed database_crd.yaml
var DatabaseCRD []byte

// variants is the number of different databases. The databases of one variant have the same spec, except
// for fields that contain their names.
const variants = 200

var (
	parameterNames = []string{
		"max_connections", "shared_buffers", "work_mem", "maintenance_work_mem", "effective_cache_size", "wal_buffers", "checkpoint_timeout",
		"max_wal_size", "random_page_cost", "autovacuum_naptime", "log_min_duration_statement", "idle_in_transaction_session_timeout",
	}
	extensionNames = []string{"pg_stat_statements", "pgcrypto", "uuid-ossp", "postgis", "pg_trgm", "hstore", "timescaledb"}
	roleNames      = []string{"readonly", "readwrite", "migrations", "replication", "monitoring", "superuser"}
)

// Database returns the i-th database.
func (m *Cluster) Database(i int) *Database {
	c := newChance(m.seed, "Database", i)
	variant := c.skewed(variants)
	v := newChance(m.seed, "variant", variant)
	name := fmt.Sprintf("%s-%s-%s", pick(v, domains), pick(v, parts), suffix(i))
	d := &Database{
		TypeMeta: metav1.TypeMeta{APIVersion: Databases.GroupVersion().String(), Kind: "Database"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace(c.IntN(Namespaces)), Name: name, UID: c.uid(), Generation: int64(c.few(1, 40)), CreationTimestamp: c.day(c.IntN(300)),
			Labels: map[string]string{
				"app.kubernetes.io/name": "database", "app.kubernetes.io/instance": name, "app.kubernetes.io/managed-by": "argocd",
				"data.example.com/class": fmt.Sprintf("class-%03d", variant), "team": pick(v, divisions),
			},
			Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "data-" + name + ":data.example.com/Database:" + name, "checksum/spec": c.hex(40)},
			Finalizers:  []string{"data.example.com/backup-before-delete"},
		},
		Spec: v.databaseSpec(),
	}
	c.nameDatabase(d)
	c.addDatabaseStatus(d)
	d.ManagedFields = []metav1.ManagedFieldsEntry{
		managed("argocd-controller", "data.example.com/v1", "", d.CreationTimestamp, fieldsOf(map[string]any{
			"metadata": map[string]any{"labels": unstructured(&d.ObjectMeta)["labels"]}, "spec": unstructured(&d.Spec),
		})),
		managed("database-operator", "data.example.com/v1", "status", after(d.CreationTimestamp, c.between(60, 86_400)),
			fieldsOf(map[string]any{"status": unstructured(&d.Status)})),
	}
	return d
}

// databaseSpec returns the spec of a variant.
func (c chance) databaseSpec() DatabaseSpec {
	spec := DatabaseSpec{
		Engine: "postgres", Version: fmt.Sprintf("%d.%d", c.between(14, 18), c.IntN(10)), Replicas: int32(c.between(1, 3)),
		Storage:    Storage{Size: pick(c, sizes), Class: pick(c, classes), Threshold: new(int32(c.between(70, 95)))},
		Resources:  Resources{Requests: map[string]string{"cpu": pick(c, amounts), "memory": pick(c, memories)}, Limits: map[string]string{"memory": pick(c, memories)}},
		Parameters: map[string]string{},
		Network:    Network{Port: 5432, AllowedSources: []string{"10.64.0.0/10", fmt.Sprintf("10.%d.0.0/16", c.IntN(64))}},
		Placement: Placement{
			Zones:        []string{"eu-central-1a", "eu-central-1b", "eu-central-1c"},
			NodeSelector: map[string]string{"node.example.com/pool": "storage"},
			Tolerations:  []Toleration{{Key: "dedicated", Operator: "Equal", Value: "storage", Effect: "NoSchedule"}},
		},
	}
	for _, name := range some(c, c.between(3, 7), parameterNames) {
		spec.Parameters[name] = c.value(name)
	}
	for _, role := range some(c, c.between(1, 2), roleNames) {
		spec.Users = append(spec.Users, User{Name: "app_" + role, Roles: []string{role, "connect"}, ConnectionLimit: new(int32(c.between(5, 200)))})
	}
	for _, name := range some(c, c.between(1, 2), domains) {
		spec.Schemas = append(spec.Schemas, Schema{Name: name, Owner: spec.Users[0].Name, Extensions: some(c, c.between(0, 2), extensionNames)})
	}
	if c.oneIn(3) {
		spec.Backup = &Backup{Schedule: fmt.Sprintf("%d %d * * *", c.IntN(60), c.IntN(24)), RetentionDays: int32(c.between(7, 60))}
		spec.Backup.Destination = Destination{Bucket: "backups-" + pick(c, divisions), Region: pick(c, regions)}
	}
	if c.oneIn(3) {
		spec.Monitoring = &Monitoring{Interval: "30s", Labels: map[string]string{"release": "prometheus"}, Alerts: []Alert{
			{Name: "ReplicationLag", Expr: fmt.Sprintf("pg_replication_lag_seconds > %d", c.between(10, 300)), For: "5m", Severity: "page"},
			{Name: "ConnectionsHigh", Expr: fmt.Sprintf("pg_connections / pg_max_connections > 0.%d", c.between(70, 95)), For: "10m", Severity: "warning"},
		}}
	}
	return spec
}

// nameDatabase sets the fields of a spec that contain the database's own name.
func (c chance) nameDatabase(d *Database) {
	d.Spec.Network.TLSSecret = d.Name + "-tls"
	d.Spec.Network.DNSNames = []string{d.Name + "." + d.Namespace + ".svc.cluster.local", d.Name + ".db.example.com"}
	for i := range d.Spec.Users {
		d.Spec.Users[i].PasswordFrom = SecretKey{Name: d.Name + "-users", Key: d.Spec.Users[i].Name}
	}
	if b := d.Spec.Backup; b != nil {
		b.Destination.Prefix = d.Namespace + "/" + d.Name
		b.Destination.Credentials = SecretKey{Name: "backup-credentials", Key: "token"}
	}
}

// addDatabaseStatus adds the status that an operator would write.
func (c chance) addDatabaseStatus(d *Database) {
	up := after(d.CreationTimestamp, c.between(30, 600))
	d.Status = DatabaseStatus{
		ObservedGeneration: d.Generation, Phase: "Running", ReadyReplicas: d.Spec.Replicas,
		Endpoint: fmt.Sprintf("%s.%s.svc.cluster.local:5432", d.Name, d.Namespace), Primary: d.Name + "-0",
	}
	for n := range d.Spec.Replicas {
		member := Member{
			Name: fmt.Sprintf("%s-%d", d.Name, n), Role: "replica", Node: nodeName(c.IntN(nodes)), Started: after(up, c.IntN(300)),
			IP: fmt.Sprintf("10.%d.%d.%d", 64+c.IntN(64), c.IntN(256), c.between(1, 254)), LagBytes: int64(c.few(0, 1<<20)),
		}
		if n == 0 {
			member.Role, member.LagBytes = "primary", 0
		}
		d.Status.Members = append(d.Status.Members, member)
	}
	for _, of := range []string{"Available", "Progressing"} {
		d.Status.Conditions = append(d.Status.Conditions, metav1.Condition{
			Type: of, Status: metav1.ConditionTrue, ObservedGeneration: d.Generation, LastTransitionTime: after(up, c.IntN(86_400)),
			Reason: of + "AsExpected", Message: fmt.Sprintf("%d of %d members are healthy", d.Spec.Replicas, d.Spec.Replicas),
		})
	}
	if d.Spec.Backup != nil {
		d.Status.LastBackup = &BackupResult{Location: "s3://" + d.Spec.Backup.Destination.Bucket + "/" + d.Name + "/" + c.hex(16), Bytes: c.Int64N(1 << 36), Completed: after(up, c.IntN(864_000))}
	}
}
