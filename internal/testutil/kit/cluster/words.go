package cluster

import "fmt"

// The parts of names and settings.
var (
	domains = []string{
		"checkout", "payments", "catalog", "inventory", "shipping", "billing", "identity", "search", "pricing", "orders",
		"returns", "loyalty", "reviews", "media", "notifications", "fraud", "ledger", "reporting", "recommendations", "campaigns",
		"suppliers", "warehouse", "routing", "telemetry", "sessions", "documents", "contracts", "quotes", "claims", "geocoder",
	}
	parts = []string{
		"api", "worker", "gateway", "consumer", "frontend", "scheduler", "indexer", "importer", "exporter", "cache",
		"sync", "renderer", "projector", "webhook", "admin",
	}
	registries  = []string{"registry.example.com", "eu.artifacts.example.net", "mirror.internal.example.com:5000", "ghcr.example.org"}
	divisions   = []string{"platform", "commerce", "logistics", "finance", "growth", "data", "security", "mobile"}
	regions     = []string{"eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "ap-southeast-1"}
	tiers       = []string{"frontend", "backend", "batch", "edge", "storage"}
	amounts     = []string{"10m", "25m", "50m", "100m", "150m", "200m", "250m", "500m", "750m", "1", "1500m", "2", "4"}
	memories    = []string{"32Mi", "64Mi", "96Mi", "128Mi", "192Mi", "256Mi", "384Mi", "512Mi", "768Mi", "1Gi", "1536Mi", "2Gi", "4Gi", "8Gi"}
	sizes       = []string{"1Gi", "5Gi", "8Gi", "10Gi", "20Gi", "50Gi", "100Gi", "250Gi", "500Gi"}
	classes     = []string{"standard", "fast-ssd", "encrypted-gp3", "local-nvme"}
	priorities  = []string{"", "", "business-critical", "batch-low", "platform-high"}
	sidecars    = []string{"envoy", "log-shipper", "otel-collector", "vault-agent", "config-reloader", "cloud-sql-proxy"}
	settings    = settingNames()
	secretNames = []string{"DB_PASSWORD", "API_TOKEN", "SIGNING_KEY", "OAUTH_CLIENT_SECRET", "SMTP_PASSWORD", "REDIS_AUTH", "KAFKA_SASL_PASSWORD", "S3_SECRET_KEY"}
	configNames = []string{"DB_HOST", "DB_PORT", "DB_NAME", "REDIS_URL", "KAFKA_BROKERS", "FEATURE_FLAGS_URL", "SENTRY_ENVIRONMENT", "CDN_BASE_URL"}
)

// settingNames returns the names of environment variables with plain values.
func settingNames() []string {
	names := []string{"LOG_LEVEL", "LOG_FORMAT", "ENVIRONMENT", "REGION", "CLUSTER_NAME", "PORT", "METRICS_PORT", "GOMEMLIMIT", "GOMAXPROCS", "JAVA_TOOL_OPTIONS",
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "TZ", "NODE_ENV", "SPRING_PROFILES_ACTIVE", "HTTP_PROXY", "NO_PROXY"}
	for _, what := range []string{"CACHE", "QUEUE", "DB_POOL", "HTTP_CLIENT", "RETRY", "BATCH", "SESSION", "UPLOAD"} {
		for _, which := range []string{"TIMEOUT_MS", "MAX_SIZE", "TTL", "ENABLED"} {
			names = append(names, what+"_"+which)
		}
	}
	return names
}

// value returns a value for a setting.
func (c chance) value(name string) string {
	switch {
	case name == "LOG_LEVEL":
		return pick(c, []string{"info", "debug", "warn"})
	case name == "REGION":
		return pick(c, regions)
	case name == "OTEL_EXPORTER_OTLP_ENDPOINT":
		return "http://otel-collector.observability.svc.cluster.local:4317"
	case name == "JAVA_TOOL_OPTIONS":
		return fmt.Sprintf("-XX:MaxRAMPercentage=%d -XX:+UseG1GC -Dfile.encoding=UTF-8", c.between(50, 85))
	case name == "NO_PROXY":
		return "localhost,127.0.0.1,10.0.0.0/8,.svc,.cluster.local"
	case name == "OTEL_RESOURCE_ATTRIBUTES":
		return fmt.Sprintf("deployment.environment=production,team=%s,service.version=%d.%d.%d", pick(c, divisions), c.IntN(9), c.IntN(40), c.IntN(20))
	case c.oneIn(3):
		return pick(c, []string{"true", "false", "json", "production"})
	}
	return fmt.Sprint(c.between(1, 60) * 500)
}
