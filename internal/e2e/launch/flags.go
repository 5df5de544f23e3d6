package launch

// EtcdFlags returns etcd's command line for servers made by [New].
func (s *Servers) EtcdFlags() []string {
	return []string{
		"--name=e2e",
		"--data-dir=" + s.DataDir(),
		"--unsafe-no-fsync", // the data need not survive a crash of the machine
		"--listen-client-urls=" + s.Etcd,
		"--advertise-client-urls=" + s.Etcd,
		"--listen-peer-urls=" + s.peer,
		"--initial-advertise-peer-urls=" + s.peer,
		"--initial-cluster=e2e=" + s.peer,
		"--quota-backend-bytes=8589934592", // enough for 50,000 objects several times over
		"--log-level=warn",
	}
}

// APIServerFlags returns the kube-apiserver's command line for servers made by [New]. The flags in more
// come last, and override flags with the same names.
func (s *Servers) APIServerFlags(more ...string) []string {
	return append([]string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + s.port,
		"--cert-dir=" + s.File("certs"), // the kube-apiserver writes apiserver.crt and apiserver.key
		"--etcd-servers=" + s.Etcd,
		"--etcd-compaction-interval=0", // only tests compact
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.File("sa.key"),
		"--service-account-signing-key-file=" + s.File("sa.key"),
		"--token-auth-file=" + s.File("tokens.csv"),
		"--authorization-mode=RBAC",
		// Without a controller-manager, pods cannot get a service account.
		"--disable-admission-plugins=ServiceAccount",
		"--shutdown-delay-duration=0s",
	}, more...)
}
