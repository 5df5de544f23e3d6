package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Databases is the custom resource that database_crd.yaml defines.
var Databases = schema.GroupVersionResource{Group: "data.example.com", Version: "v1", Resource: "databases"}

// Database is the Go type of the custom resource.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              DatabaseSpec   `json:"spec"`
	Status            DatabaseStatus `json:"status"`
}

// DatabaseList is the answer to a list request.
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Database `json:"items"`
}

// DatabaseSpec is the wanted state of a database.
type DatabaseSpec struct {
	Engine     string            `json:"engine"`
	Version    string            `json:"version"`
	Replicas   int32             `json:"replicas"`
	Storage    Storage           `json:"storage"`
	Resources  Resources         `json:"resources"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Users      []User            `json:"users,omitempty"`
	Schemas    []Schema          `json:"schemas,omitempty"`
	Backup     *Backup           `json:"backup,omitempty"`
	Network    Network           `json:"network"`
	Placement  Placement         `json:"placement"`
	Monitoring *Monitoring       `json:"monitoring,omitempty"`
	Paused     *bool             `json:"paused,omitempty"`
}

// Storage is the disk of each replica.
type Storage struct {
	Size      string `json:"size"`
	Class     string `json:"class"`
	Threshold *int32 `json:"threshold,omitempty"`
}

// Resources are amounts, as strings.
type Resources struct {
	Requests map[string]string `json:"requests,omitempty"`
	Limits   map[string]string `json:"limits,omitempty"`
}

// User is an account.
type User struct {
	Name            string    `json:"name"`
	Roles           []string  `json:"roles,omitempty"`
	ConnectionLimit *int32    `json:"connectionLimit,omitempty"`
	PasswordFrom    SecretKey `json:"passwordFrom"`
}

// SecretKey is a key of a secret.
type SecretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Schema is a schema of the database.
type Schema struct {
	Name       string   `json:"name"`
	Owner      string   `json:"owner"`
	Extensions []string `json:"extensions,omitempty"`
}

// Backup is the schedule and the destination of backups.
type Backup struct {
	Schedule      string      `json:"schedule"`
	RetentionDays int32       `json:"retentionDays"`
	Destination   Destination `json:"destination"`
}

// Destination is a bucket for backups.
type Destination struct {
	Bucket      string    `json:"bucket"`
	Prefix      string    `json:"prefix"`
	Region      string    `json:"region"`
	Credentials SecretKey `json:"credentials"`
}

// Network is the port and the names by which clients reach the database.
type Network struct {
	Port           int32    `json:"port"`
	TLSSecret      string   `json:"tlsSecret"`
	DNSNames       []string `json:"dnsNames,omitempty"`
	AllowedSources []string `json:"allowedSources,omitempty"`
}

// Placement restricts the nodes of the replicas.
type Placement struct {
	Zones        []string          `json:"zones,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Tolerations  []Toleration      `json:"tolerations,omitempty"`
}

// Toleration is a toleration of pods.
type Toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect"`
}

// Monitoring is the interval of measurements, and the alerts.
type Monitoring struct {
	Interval string            `json:"interval"`
	Labels   map[string]string `json:"labels,omitempty"`
	Alerts   []Alert           `json:"alerts,omitempty"`
}

// Alert is an alerting rule.
type Alert struct {
	Name     string `json:"name"`
	Expr     string `json:"expr"`
	For      string `json:"for"`
	Severity string `json:"severity"`
}

// DatabaseStatus is the observed state of a database.
type DatabaseStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Phase              string             `json:"phase"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Endpoint           string             `json:"endpoint"`
	Primary            string             `json:"primary"`
	Members            []Member           `json:"members,omitempty"`
	LastBackup         *BackupResult      `json:"lastBackup,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Member is a replica.
type Member struct {
	Name     string      `json:"name"`
	Role     string      `json:"role"`
	Node     string      `json:"node"`
	IP       string      `json:"ip"`
	LagBytes int64       `json:"lagBytes"`
	Started  metav1.Time `json:"started"`
}

// BackupResult is the result of a backup.
type BackupResult struct {
	Location  string      `json:"location"`
	Bytes     int64       `json:"bytes"`
	Completed metav1.Time `json:"completed"`
}
