package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func role(c chance, m metav1.ObjectMeta, _ int) Object {
	r := &rbacv1.Role{TypeMeta: of(rbacv1.SchemeGroupVersion, "Role"), ObjectMeta: m}
	for range c.between(1, 5) {
		r.Rules = append(r.Rules, rbacv1.PolicyRule{
			APIGroups: []string{pick(c, []string{"", "apps", "batch"})},
			Resources: some(c, c.between(1, 3), []string{"pods", "configmaps", "secrets", "services", "deployments", "jobs"}),
			Verbs:     some(c, c.between(2, 6), []string{"get", "list", "watch", "create", "update", "patch", "delete"}),
		})
	}
	return r
}

func roleBinding(_ chance, m metav1.ObjectMeta, _ int) Object {
	return &rbacv1.RoleBinding{
		TypeMeta: of(rbacv1.SchemeGroupVersion, "RoleBinding"), ObjectMeta: m,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: m.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: m.Namespace, Name: m.Name}},
	}
}

func ingress(_ chance, m metav1.ObjectMeta, _ int) Object {
	m.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"] = "16m"
	m.Annotations["cert-manager.io/cluster-issuer"] = "letsencrypt"
	host := m.Name + ".example.com"
	return &networkingv1.Ingress{
		TypeMeta: of(networkingv1.SchemeGroupVersion, "Ingress"), ObjectMeta: m,
		Spec: networkingv1.IngressSpec{
			IngressClassName: new("nginx"), TLS: []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: m.Name + "-tls"}},
			Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
					Service: &networkingv1.IngressServiceBackend{Name: m.Name, Port: networkingv1.ServiceBackendPort{Name: "http"}},
				}}},
			}}}},
		},
		Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: []networkingv1.IngressLoadBalancerIngress{{Hostname: "lb-1.eu-central-1.example.net"}}}},
	}
}

func networkPolicy(c chance, m metav1.ObjectMeta, _ int) Object {
	peer := networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(c, divisions)}}}
	return &networkingv1.NetworkPolicy{
		TypeMeta: of(networkingv1.SchemeGroupVersion, "NetworkPolicy"), ObjectMeta: m,
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": m.Name}}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  []networkingv1.NetworkPolicyPeer{peer, {IPBlock: &networkingv1.IPBlock{CIDR: fmt.Sprintf("10.%d.0.0/16", c.IntN(256))}}},
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt(c.between(3000, 9000)))}},
			}},
		},
	}
}

func budget(c chance, m metav1.ObjectMeta, _ int) Object {
	n := int32(c.between(1, 9))
	return &policyv1.PodDisruptionBudget{
		TypeMeta: of(policyv1.SchemeGroupVersion, "PodDisruptionBudget"), ObjectMeta: m,
		Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": m.Name}}},
		Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: n, DesiredHealthy: n - 1, DisruptionsAllowed: 1, ExpectedPods: n, Conditions: []metav1.Condition{{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason, LastTransitionTime: c.day(300),
		}}},
	}
}
