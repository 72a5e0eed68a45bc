// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// policyAgent enforces the NetworkPolicies of a namespace with rules of nftables in the network of each pod. The node has no agent of a
// network plugin: kube-network-policies needs a kernel with nfnetlink_queue, which not every test machine has. The agent supports what
// isolated stacks use: peers in the same namespace, networks, and ports.
type policyAgent struct {
	n        *framework.Namespace
	pods     []corev1.Pod
	services []corev1.Service
	policies []networkingv1.NetworkPolicy
}

// enforceNetworkPolicies replaces the rules in the networks of all pods of the namespace.
func enforceNetworkPolicies(n *framework.Namespace) {
	n.T.Helper()
	client := n.ControlPlane.KubeClient
	pods, podsErr := n.Pods.List(n.Ctx, metav1.ListOptions{})
	services, servicesErr := n.Services.List(n.Ctx, metav1.ListOptions{})
	policies, policiesErr := client.NetworkingV1().NetworkPolicies(n.Name).List(n.Ctx, metav1.ListOptions{})
	for _, err := range []error{podsErr, servicesErr, policiesErr} {
		if err != nil {
			n.T.Fatal(err)
		}
	}
	agent := &policyAgent{n: n, services: services.Items, policies: policies.Items}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && pod.Status.PodIP != "" {
			agent.pods = append(agent.pods, pod)
		}
	}
	for i := range agent.pods {
		pod := &agent.pods[i]
		err := inNetworkOf(pod.Status.PodIP, func() error {
			kubelet, err := gateway()
			if err != nil {
				return err
			}
			return load(agent.ruleset(pod, kubelet))
		})
		if err != nil {
			n.T.Fatalf("enforcing the policies of pod %s: %v", pod.Name, err)
		}
	}
}

func load(ruleset string) error {
	nft := exec.Command("nft", "--file", "-")
	nft.Stdin = strings.NewReader(ruleset)
	if output, err := nft.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s\n%s", err, output, ruleset)
	}
	return nil
}

// gateway returns the address of the gateway of this network. The kubelet probes the pods from it.
func gateway() (string, error) {
	routes, err := os.ReadFile("/proc/thread-self/net/route")
	if err != nil {
		return "", fmt.Errorf("reading the routes: %w", err)
	}
	for line := range strings.Lines(string(routes)) {
		// Interface, destination and gateway. Addresses are hexadecimal, with the last byte first.
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != "00000000" {
			continue
		}
		address, err := hex.DecodeString(fields[2])
		if err != nil || len(address) != net.IPv4len {
			return "", fmt.Errorf("the gateway is %q", fields[2])
		}
		slices.Reverse(address)
		return net.IP(address).String(), nil
	}
	return "", fmt.Errorf("there is no default route in\n%s", routes)
}

// ruleset returns the rules of a pod. The kubelet reaches every pod, as the specification of NetworkPolicies requires.
func (a *policyAgent) ruleset(pod *corev1.Pod, kubelet string) string {
	var rules strings.Builder
	rules.WriteString("table inet policies\ndelete table inet policies\ntable inet policies {\n")
	chain := func(hook, local string, accepted []string) {
		fmt.Fprintf(&rules, "chain %s {\ntype filter hook %s priority 0; policy accept;\n", hook, hook)
		fmt.Fprintf(&rules, "ct state established,related accept\n%s lo accept\n", local)
		for _, rule := range accepted {
			rules.WriteString(rule + " accept\n")
		}
		rules.WriteString("meta l4proto tcp reject with tcp reset\ndrop\n}\n")
	}
	if accepted, isRestricted := a.accepted(pod, networkingv1.PolicyTypeIngress); isRestricted {
		chain("input", "iif", append(accepted, "ip saddr "+kubelet))
	}
	if accepted, isRestricted := a.accepted(pod, networkingv1.PolicyTypeEgress); isRestricted {
		chain("output", "oif", accepted)
	}
	return rules.String() + "}\n"
}

// accepted returns the conditions of the connections that the policies of the pod allow in a direction, false if no policy restricts it.
func (a *policyAgent) accepted(pod *corev1.Pod, direction networkingv1.PolicyType) ([]string, bool) {
	var accepted []string
	isRestricted := false
	for i := range a.policies {
		spec := &a.policies[i].Spec
		if !matches(&spec.PodSelector, pod) || !slices.Contains(spec.PolicyTypes, direction) {
			continue
		}
		isRestricted = true
		if direction == networkingv1.PolicyTypeIngress {
			for _, rule := range spec.Ingress {
				accepted = append(accepted, a.conditions("saddr", rule.From, rule.Ports, pod)...)
			}
			continue
		}
		for _, rule := range spec.Egress {
			accepted = append(accepted, a.conditions("daddr", rule.To, rule.Ports, nil)...)
			accepted = append(accepted, a.serviceConditions(rule)...)
		}
	}
	return accepted, isRestricted
}

// conditions returns the conditions of a rule. server is the pod that has the ports, nil for the peers.
func (a *policyAgent) conditions(address string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, server *corev1.Pod) []string {
	if len(peers) == 0 {
		return portConditions("", ports, server)
	}
	var conditions []string
	for _, peer := range peers {
		if peer.IPBlock != nil {
			conditions = append(conditions, portConditions("ip "+address+" "+peer.IPBlock.CIDR+" ", ports, server)...)
			continue
		}
		for i := range a.pods {
			if pod := &a.pods[i]; peer.NamespaceSelector == nil && matches(peer.PodSelector, pod) {
				conditions = append(conditions, portConditions("ip "+address+" "+pod.Status.PodIP+" ", ports, cmp.Or(server, pod))...)
			}
		}
	}
	return conditions
}

// serviceConditions returns the conditions for the cluster IPs of the Services of the peers. The node translates them after they have
// left the network of the pod.
func (a *policyAgent) serviceConditions(rule networkingv1.NetworkPolicyEgressRule) []string {
	var conditions []string
	for _, peer := range rule.To {
		for i := range a.pods {
			pod := &a.pods[i]
			if peer.PodSelector == nil || !matches(peer.PodSelector, pod) {
				continue
			}
			for _, service := range a.services {
				if service.Spec.ClusterIP == corev1.ClusterIPNone || len(service.Spec.Selector) == 0 || !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
					continue
				}
				for _, port := range service.Spec.Ports {
					if len(rule.Ports) == 0 || slices.ContainsFunc(rule.Ports, func(allowed networkingv1.NetworkPolicyPort) bool {
						return numberOf(allowed.Port, pod) == numberOf(&port.TargetPort, pod)
					}) {
						conditions = append(conditions, fmt.Sprintf("ip daddr %s %s dport %d", service.Spec.ClusterIP, strings.ToLower(string(port.Protocol)), port.Port))
					}
				}
			}
		}
	}
	return conditions
}

func portConditions(address string, ports []networkingv1.NetworkPolicyPort, server *corev1.Pod) []string {
	if len(ports) == 0 {
		return []string{address + "meta l4proto { tcp, udp }"}
	}
	var conditions []string
	for _, port := range ports {
		protocol := strings.ToLower(string(ptr.Deref(port.Protocol, corev1.ProtocolTCP)))
		conditions = append(conditions, fmt.Sprintf("%s%s dport %d", address, protocol, numberOf(port.Port, server)))
	}
	return conditions
}

// numberOf returns the number of a port, which may have the name of a port of the pod. It is 0 for a name that the pod does not have.
func numberOf(port *intstr.IntOrString, pod *corev1.Pod) int32 {
	if port.Type == intstr.Int || pod == nil {
		return port.IntVal
	}
	for _, container := range pod.Spec.Containers {
		for _, declared := range container.Ports {
			if declared.Name == port.StrVal {
				return declared.ContainerPort
			}
		}
	}
	return 0
}

func matches(selector *metav1.LabelSelector, pod *corev1.Pod) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(pod.Labels))
}
