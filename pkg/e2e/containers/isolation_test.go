// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// outside is a box that is not in the stack.
const outside = "outside"

// isolationClosesConnections checks which components of the sample connect before and after the stack is isolated, and that the
// policies go with the isolation.
func isolationClosesConnections(n *framework.Namespace, stack *modelv1.ModelStack) {
	n.CreateReadyBox(newAppBox(outside))
	var servers, exposed []string
	dependencies := map[string][]string{}
	for _, component := range stack.Spec.Components {
		if component.Box != nil {
			servers = append(servers, component.BoxName)
			if n.GetService(component.BoxName).Spec.Type == corev1.ServiceTypeNodePort {
				exposed = append(exposed, component.BoxName)
			}
			for _, name := range component.DependsOn {
				i := slices.IndexFunc(stack.Spec.Components, func(c modelv1.ModelStackComponent) bool { return c.Name == name })
				dependencies[component.BoxName] = append(dependencies[component.BoxName], stack.Spec.Components[i].BoxName)
			}
		}
	}
	clients := append(slices.Clone(servers), outside)

	before := openConnections(n, clients, servers)
	for _, client := range clients {
		if len(before[client]) < len(servers)-1 {
			n.T.Errorf("before the isolation, %s connects to %v of %v", client, before[client], servers)
		}
	}

	patch := framework.RunKubectl(n.Kubectl.Command("patch", "modelstack/"+stack.Name, "--type=merge", "--patch", `{"spec": {"isolate": true}}`), "")
	if want := "component mysql: closes connections from "; patch.Err != nil || !strings.Contains(patch.Stderr, want) {
		n.T.Fatalf("the patch ended with %v, and warns %q, want %q in it", patch.Err, patch.Stderr, want)
	}
	awaitPolicies(n, len(servers))
	n.Kubectl.Run("wait", "modelstack/"+stack.Name, "--for=condition=Ready", "--timeout=5m")
	enforceNetworkPolicies(n)
	after := openConnections(n, clients, servers)
	for _, client := range clients {
		want := dependencies[client]
		if client == outside {
			want = exposed
		}
		want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !slices.Contains(servers, name) })
		slices.Sort(want)
		framework.ExpectEqual(n.T, "connections of "+client+" in the isolated stack", want, after[client])
	}
	n.T.Logf("connections of %d components and a box outside: %d before, %d after the isolation", len(servers), count(before), count(after))
	if answer := awaitAnswer(n, "web", "/via/gateway-web/via/gateway-master/via/api-manager/connect/mysql"); !strings.Contains(answer, "connected to") {
		n.T.Errorf("through the isolated components: %s", answer)
	}

	n.Kubectl.Run("patch", "modelstack/"+stack.Name, "--type=merge", "--patch", `{"spec": {"isolate": false}}`)
	awaitPolicies(n, 0)
	enforceNetworkPolicies(n)
	framework.ExpectEqual(n.T, "connections after the isolation", before, openConnections(n, clients, servers))
	n.Kubectl.Run("delete", "modelbox/"+outside, "--cascade=foreground")
}

func awaitPolicies(n *framework.Namespace, want int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("there are %d NetworkPolicies", want), func() error {
		policies, err := n.ControlPlane.KubeClient.NetworkingV1().NetworkPolicies(n.Name).List(n.Ctx, metav1.ListOptions{})
		if err == nil && len(policies.Items) != want {
			err = fmt.Errorf("there are %d", len(policies.Items))
		}
		return err
	})
}

// openConnections returns the servers, sorted, that each of the clients connects to. All of them are boxes.
func openConnections(n *framework.Namespace, clients, servers []string) map[string][]string {
	n.T.Helper()
	ips, ports := map[string]string{}, map[string]int32{}
	for _, name := range clients {
		pods, err := n.LivePods(name)
		if err != nil || len(pods) == 0 {
			n.T.Fatalf("box %s has %d pods: %v", name, len(pods), err)
		}
		ips[name], ports[name] = pods[0].Status.PodIP, pods[0].Spec.Containers[0].Ports[0].ContainerPort
	}
	open := map[string][]string{}
	for _, client := range clients {
		err := inNetworkOf(ips[client], func() error {
			for _, server := range servers {
				if server == client {
					continue
				}
				connection, err := net.DialTimeout("tcp", net.JoinHostPort(ips[server], strconv.Itoa(int(ports[server]))), 5*time.Second)
				if err == nil {
					open[client] = append(open[client], server)
					_ = connection.Close()
				}
			}
			return nil
		})
		if err != nil {
			n.T.Fatalf("connecting from %s: %v", client, err)
		}
		slices.Sort(open[client])
	}
	return open
}

func count(connections map[string][]string) int {
	total := 0
	for _, servers := range connections {
		total += len(servers)
	}
	return total
}
