# A real etcd and kube-apiserver; see README.md in this folder. The root
# Makefile includes it.

controlplane_dir := $(dir $(lastword $(MAKEFILE_LIST)))
controlplane_cmd := cd $(controlplane_dir)../launch && GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off go run ./controlplane

.PHONY: controlplane-bin controlplane controlplane-restart controlplane-stop

controlplane-bin: ## build kube-apiserver and etcd (once), print their folder
	@$(controlplane_dir)build.sh

controlplane: ## start etcd and kube-apiserver, print the kubeconfig; APISERVER_FLAGS has additional flags
	@bin=$$($(controlplane_dir)build.sh) && $(controlplane_cmd) up -bin "$$bin" -- $(APISERVER_FLAGS)

controlplane-restart: ## kill -9 the newest kube-apiserver and restart it on the same port and data
	@$(controlplane_cmd) restart

controlplane-stop: ## stop the newest etcd and kube-apiserver, and remove their data
	@$(controlplane_cmd) down
