module github.com/tidemark-k8s/tidemark/cmd/migrate

go 1.26.0

require (
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2
	github.com/stretchr/testify v1.11.1
	golang.org/x/mod v0.37.0
	golang.org/x/tools v0.47.0
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	golang.org/x/sync v0.21.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
