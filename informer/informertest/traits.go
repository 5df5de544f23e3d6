package informertest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// traits are kube-apiserver's rules for some kinds but not for others.
type traits struct {
	// needsVersion: an update must name the version that it replaces.
	needsVersion bool
	// putCreates: an update creates the object if it does not exist.
	putCreates bool
	// freeFinalizers: the name of a finalizer does not need a domain.
	freeFinalizers bool
	// answersDeleted: the answer to a deletion is the object, instead of a status.
	answersDeleted bool
	// grace returns the grace period of a deletion: the one that the client asked for, or the object's own.
	// It is nil for kinds without grace periods.
	grace func(obj apiObject, asked *int64) int64
	// specFinalizers: finalizers in the spec also keep the object.
	specFinalizers bool
	// generation: metadata.generation counts the changes of the spec.
	generation bool
	// phase is the status.phase of a new object.
	phase string
	// bornWithStatus: a new object keeps its status, although the status is a subresource.
	bornWithStatus bool
	// uncollected: the garbage collector ignores the objects.
	uncollected bool
	// oneByOne: there is no request that deletes a collection.
	oneByOne bool
	// fields is [Kind].Fields.
	fields func(runtime.Object) fields.Set
	// declaresFields: the kind has its own list of fields for field selectors. Then only namespaced kinds
	// have metadata.namespace.
	declaresFields bool
	// normalize, if set, changes a received object before it is stored.
	normalize func(apiObject)
}

// customTraits are the traits of all kinds that are not built in.
var customTraits = traits{needsVersion: true, freeFinalizers: true, declaresFields: true}

// builtinTraits are the traits of the built-in kinds by resource, for all versions. A row with a group takes
// precedence over a row for all groups. Resources without a row have no traits.
var builtinTraits = map[string]traits{
	"certificatesigningrequests":        {declaresFields: true},
	"clusterrolebindings":               {putCreates: true},
	"clusterroles":                      {putCreates: true},
	"clustertrustbundles":               {needsVersion: true},
	"compositepodgroups":                {needsVersion: true},
	"cronjobs":                          {generation: true},
	"csidrivers":                        {needsVersion: true, answersDeleted: true},
	"csinodes":                          {needsVersion: true, answersDeleted: true},
	"csistoragecapacities":              {needsVersion: true},
	"daemonsets":                        {generation: true},
	"deployments":                       {generation: true},
	"deviceclasses":                     {generation: true, answersDeleted: true},
	"devicetaintrules":                  {needsVersion: true, generation: true}, // as in v1; earlier versions answer with the object
	"endpoints":                         {putCreates: true},
	"events":                            {putCreates: true, freeFinalizers: true, uncollected: true},
	"events.events.k8s.io":              {putCreates: true, uncollected: true},
	"evictionrequests":                  {needsVersion: true},
	"evictions":                         {needsVersion: true},
	"flowschemas":                       {generation: true},
	"horizontalpodautoscalers":          {generation: true},
	"ingressclasses":                    {generation: true},
	"ingresses":                         {generation: true},
	"jobs":                              {generation: true},
	"leasecandidates":                   {needsVersion: true, putCreates: true, freeFinalizers: true},
	"leases":                            {needsVersion: true, putCreates: true, freeFinalizers: true},
	"limitranges":                       {putCreates: true},
	"mutatingadmissionpolicies":         {needsVersion: true, generation: true, freeFinalizers: true},
	"mutatingadmissionpolicybindings":   {needsVersion: true, generation: true, freeFinalizers: true},
	"mutatingwebhookconfigurations":     {needsVersion: true, freeFinalizers: true},
	"namespaces":                        {answersDeleted: true, specFinalizers: true, phase: string(corev1.NamespaceActive), oneByOne: true, declaresFields: true},
	"networkpolicies":                   {generation: true},
	"nodes":                             {bornWithStatus: true, declaresFields: true}, // the kubelet creates it
	"persistentvolumeclaims":            {answersDeleted: true, phase: string(corev1.ClaimPending)},
	"persistentvolumes":                 {answersDeleted: true, phase: string(corev1.VolumePending)},
	"podcertificaterequests":            {needsVersion: true},
	"poddisruptionbudgets":              {needsVersion: true, generation: true, freeFinalizers: true},
	"podgroups":                         {needsVersion: true},
	"pods":                              {answersDeleted: true, grace: podGrace, generation: true, phase: string(corev1.PodPending), fields: podFields},
	"podtemplates":                      {answersDeleted: true},
	"prioritylevelconfigurations":       {generation: true},
	"replicasets":                       {generation: true},
	"replicationcontrollers":            {generation: true},
	"resourceclaims":                    {answersDeleted: true},
	"resourceclaimtemplates":            {answersDeleted: true},
	"resourcepoolstatusrequests":        {needsVersion: true, answersDeleted: true},
	"resourcequotas":                    {answersDeleted: true},
	"resourceslices":                    {generation: true, answersDeleted: true},
	"rolebindings":                      {putCreates: true},
	"roles":                             {putCreates: true},
	"runtimeclasses":                    {needsVersion: true, putCreates: true, freeFinalizers: true},
	"secrets":                           {normalize: moveStringData},
	"serviceaccounts":                   {answersDeleted: true},
	"services":                          {putCreates: true, answersDeleted: true},
	"statefulsets":                      {generation: true},
	"storageclasses":                    {answersDeleted: true},
	"storageversionmigrations":          {needsVersion: true},
	"storageversions":                   {needsVersion: true},
	"validatingadmissionpolicies":       {needsVersion: true, generation: true, freeFinalizers: true},
	"validatingadmissionpolicybindings": {needsVersion: true, generation: true, freeFinalizers: true},
	"validatingwebhookconfigurations":   {needsVersion: true, freeFinalizers: true},
	"volumeattachments":                 {needsVersion: true, answersDeleted: true},
	"volumeattributesclasses":           {answersDeleted: true},
	"workloads":                         {needsVersion: true},
}

// traitsOf returns the traits of a built-in resource.
func traitsOf(r schema.GroupResource) traits {
	if t, ok := builtinTraits[r.String()]; ok {
		return t
	}
	return builtinTraits[r.Resource]
}

// podFields returns a pod's fields for field selectors.
func podFields(obj runtime.Object) fields.Set {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	return fields.Set{"spec.nodeName": pod.Spec.NodeName, "status.phase": string(pod.Status.Phase)}
}

// moveStringData moves the stringData of a secret into its data.
func moveStringData(obj apiObject) {
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	for key, text := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(text)
	}
	secret.StringData = nil
}

// checkFinalizers checks that each finalizer has a domain. Kubernetes' own finalizers need none, and some
// kinds accept all names.
func (k kind) checkFinalizers(obj apiObject) (problems field.ErrorList) {
	if k.freeFinalizers {
		return nil
	}
	for i, name := range obj.GetFinalizers() {
		switch {
		case strings.Contains(name, "/"):
		case name == string(corev1.FinalizerKubernetes), name == metav1.FinalizerOrphanDependents, name == metav1.FinalizerDeleteDependents:
		default:
			problems = append(problems, field.Invalid(field.NewPath("metadata", "finalizers").Index(i), name,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return problems
}
