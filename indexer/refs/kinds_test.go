package refs

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// kinds are the Go types of all kinds of k8s.io/api, in all versions.
func kinds() (all []reflect.Type) {
	known := scheme.Scheme.AllKnownTypes()
	for gvk, t := range known {
		if _, ok := reflect.New(t).Interface().(metav1.Object); ok && strings.HasPrefix(t.PkgPath(), "k8s.io/api/") && gvk.Version != "__internal" {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b reflect.Type) int { return strings.Compare(a.String()+a.PkgPath(), b.String()+b.PkgPath()) })
	return slices.Compact(all)
}

// none are the fields that look like references and are none, with the reason.
var none = map[string]string{
	"the name of a part of its own object": `
		admissionregistration.MatchCondition.name admissionregistration.Variable.name admissionregistration.MutatingWebhook.name admissionregistration.ValidatingWebhook.name
		core.Container.name core.EphemeralContainer.name core.ContainerPort.name core.EndpointPort.name core.ServicePort.name discovery.EndpointPort.name
		core.Volume.name core.PodResourceClaim.name core.PodSchedulingGate.name scheduling.PodGroupResourceClaim.name scheduling.WorkloadPodGroupResourceClaim.name
		scheduling.PodGroupTemplate.name scheduling.CompositePodGroupTemplate.name resource.CounterSet.name resource.Device.name resource.DeviceDerivedAttribute.name
		resource.DeviceRequest.name resource.DeviceSubRequest.name`,
	"it names a part of its own object": `
		core.DownwardAPIVolumeFile.fieldRef core.DownwardAPIVolumeFile.resourceFieldRef core.EnvVarSource.fieldRef core.EnvVarSource.resourceFieldRef core.EnvVarSource.fileKeyRef
		batch.PodFailurePolicyOnExitCodesRequirement.containerName core.EphemeralContainer.targetContainerName core.FileKeySelector.volumeName core.ResourceClaim.name
		core.ResourceFieldSelector.containerName core.VolumeDevice.name core.VolumeMount.name networking.ServiceBackendPort.name`,
	"it names a part of the object beside it":     `scheduling.WorkloadReference.templateName resource.ResourcePoolStatusRequestSpec.poolName resource.ResourcePool.name`,
	"a name beside the one in serviceAccountName": `core.PodSpec.serviceAccount`,
	"a host, user, group, or somebody who acts": `
		core.EndpointAddress.hostname core.PodSpec.hostname core.PodSpec.hostnameOverride core.HostAlias.hostnames core.PodDNSConfig.nameservers core.ServiceSpec.externalName
		core.HTTPHeader.name discovery.Endpoint.hostname core.PodSpec.schedulerName core.WindowsSecurityContextOptions.runAsUserName core.EvictionResponder.name
		certificates.CertificateSigningRequestSpec.username certificates.CertificateSigningRequestSpec.signerName certificates.ClusterTrustBundleSpec.signerName
		certificates.PodCertificateRequestSpec.signerName core.ClusterTrustBundleProjection.signerName core.PodCertificateProjection.signerName
		flowcontrol.UserSubject.name flowcontrol.GroupSubject.name`,
	"a disk, file or name in a system outside of the cluster": `
		core.AzureDiskVolumeSource.diskName core.AzureFilePersistentVolumeSource.shareName core.AzureFileVolumeSource.shareName core.CephFSVolumeSource.secretFile
		core.CephFSPersistentVolumeSource.secretFile core.FlockerVolumeSource.datasetName core.GCEPersistentDiskVolumeSource.pdName core.ISCSIVolumeSource.initiatorName
		core.ISCSIPersistentVolumeSource.initiatorName core.ImageVolumeSource.reference core.ScaleIOVolumeSource.volumeName core.ScaleIOPersistentVolumeSource.volumeName
		core.StorageOSVolumeSource.volumeName core.StorageOSPersistentVolumeSource.volumeName core.StorageOSVolumeSource.volumeNamespace
		core.StorageOSPersistentVolumeSource.volumeNamespace core.VsphereVirtualDiskVolumeSource.storagePolicyName`,
	"the namespace of the name beside it": `core.AzureFilePersistentVolumeSource.secretNamespace`,
	"a driver":                            `storage.CSINodeDriver.name storage.VolumeAttributesClass.driverName`,
	"a setting": `
		autoscaling.ContainerResourceMetricSource.name autoscaling.ResourceMetricSource.name autoscaling.MetricIdentifier.name core.ContainerResizePolicy.resourceName
		core.EnvVar.name core.PodDNSConfigOption.name core.PodOS.name core.Sysctl.name core.ScopedResourceSelectorRequirement.scopeName core.ServiceSpec.loadBalancerClass
		resource.DeviceClassSpec.extendedResourceName discovery.ForZone.name`,
	"the object of a kind outside of k8s.io/api, which it does not say": `
		core.WindowsSecurityContextOptions.gmsaCredentialSpecName admissionregistration.ParamRef.name
		admissionregistration.MutatingAdmissionPolicyBindingSpec.paramRef admissionregistration.ValidatingAdmissionPolicyBindingSpec.paramRef`,
	"a condition on the names of other objects": `
		admissionregistration.NamedRuleWithOperations.resourceNames rbac.PolicyRule.resourceNames authorization.ResourceAttributes.name`,
	"it refers to something only where a rule says what": `core.LocalObjectReference.name`,
}

// looks tells by its name whether a field of texts may be a reference.
var looks = regexp.MustCompile(`(?i)name$|names$|hostname|nameservers|reference$|ref$|secret|claim$|serviceaccount$|endpoints$|class$|node$|volumeNamespace`)

// looksByType tells by its name and its type whether a field of structs may have references, which these do not know.
var looksByType = regexp.MustCompile(`Ref |(Ref|Reference|KeySelector)$`)

// Each field of each kind that looks like a reference has a rule, or a reason for having none. Each rule and each reason
// is for a field.
func TestEachFieldThatLooksLikeAReferenceHasARule(t *testing.T) {
	all := kinds()
	require.Greater(t, len(all), 147)
	reasons := map[string]bool{}
	for _, fields := range none {
		for _, field := range strings.Fields(fields) {
			require.False(t, reasons[field], "%s has two reasons", field)
			reasons[field] = true
		}
	}
	fields := map[string]bool{}
	seen := map[reflect.Type]bool{}
	for _, kind := range all {
		visit(kind, seen, func(in reflect.Type, name string, of reflect.Type) {
			field := strings.Split(strings.TrimPrefix(in.PkgPath(), "k8s.io/api/"), "/")[0] + "." + in.Name() + "." + name
			fields[field] = true
			_, known := byField[field]
			isText := of.Kind() == reflect.String && looks.MatchString(name)
			if isText || looksByType.MatchString(name+" "+of.Name()) && !refers(of, map[reflect.Type]bool{}) {
				assert.True(t, known != reasons[field], "%s of %v: a rule: %v, a reason for none: %v", field, of, known, reasons[field])
			}
		})
	}
	for field := range byField {
		assert.True(t, fields[field], "no field %s", field)
	}
	for field := range maps.Keys(reasons) {
		assert.True(t, fields[field], "no field %s", field)
	}
}

// visit calls f for each field of a struct, and those of the structs in it, outside of status and metadata: with the
// struct that has it in JSON, its name in JSON, and the type of its elements.
func visit(t reflect.Type, seen map[reflect.Type]bool, f func(in reflect.Type, name string, of reflect.Type)) {
	if t = element(t); t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || seen[t] {
		return
	}
	seen[t] = true
	for _, sf := range jsonFields(t) {
		if name := jsonName(sf); name != "status" && name != "metadata" {
			f(t, name, element(sf.Type))
			visit(sf.Type, seen, f)
		}
	}
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && !f.Anonymous {
		return f.Name
	}
	return name
}

// jsonFields returns the fields of a struct, with those of embedded structs instead of these.
func jsonFields(t reflect.Type) (all []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) != "" && f.IsExported() && (len(f.Index) == 1 || jsonName(t.FieldByIndex(f.Index[:1])) == "") {
			all = append(all, f)
		}
	}
	return all
}

// refers reports whether a type has rules somewhere.
func refers(t reflect.Type, seen map[reflect.Type]bool) (found bool) {
	visit(t, seen, func(in reflect.Type, name string, _ reflect.Type) { found = found || rulesFor(in, name) != nil })
	return found
}
