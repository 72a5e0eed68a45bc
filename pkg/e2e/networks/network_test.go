// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

const lan = "cidr: 10.10.0.0/24, gateway: 10.10.0.1"

// TestNetworksLiveThroughTheKindOfTheirDefinitions is one test, because the cluster either serves the kind or does not.
func TestNetworksLiveThroughTheKindOfTheirDefinitions(t *testing.T) {
	c := newCluster(t)
	c.apply("lan", lan)
	c.awaitCondition("lan", modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed, "NetworkAttachmentDefinition", "k8s.cni.cncf.io/v1")
	c.awaitCondition("lan", modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonNotServed)

	c.ServeNetworkAttachments()
	c.awaitCondition("lan", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	c.awaitConfig("lan", `"type":"bridge"`, `"isGateway":true`, `{"subnet":"10.10.0.0/24","gateway":"10.10.0.1"}`)

	for _, test := range []struct {
		name string
		test func(c *cluster)
	}{
		{"a network becomes what it says", followsItsSpec},
		{"what others change is put back", isRestored},
		{"a definition of another owner is left alone until it is to be adopted", leavesOthersAlone},
		{"a range without an address for a pod says so", saysThatThereIsNoAddress},
		{"pods are attached, and status reports it", attachesPods},
		{"a network in use stays until no box uses it", staysInUse},
		{"what nothing happens to is not written", isQuiet},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := *c
			in.Namespace = c.In(t)
			test.test(&in)
		})
	}

	c.StopServingNetworkAttachments()
	c.awaitCondition("lan", modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed)
	c.ServeNetworkAttachments()
	c.awaitCondition("lan", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	c.awaitConfig("lan", `"type":"bridge"`)
}

func followsItsSpec(c *cluster) {
	c.apply("own", "cidr: 10.11.0.0/24, gateway: 10.11.0.1, type: macvlan, master: eth1")
	c.awaitConfig("own", `"type":"macvlan"`, `"master":"eth1"`, `"mode":"bridge"`)
	c.apply("own", "cidr: 10.11.0.0/24, gateway: 10.11.0.2, type: macvlan, mtu: 1400, routes: [10.12.0.0/16]")
	c.awaitConfig("own", `"gateway":"10.11.0.2"`, `"mtu":1400`, `"routes":[{"dst":"10.12.0.0/16"}]`)
	c.awaitCondition("own", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)

	for spec, want := range map[string]string{
		lan + ", type: ptp":                      "spec.type: Unsupported value",
		lan + ", type: vlan":                     "spec.master: Required value",
		lan + ", master: eth1":                   "spec.master: Forbidden",
		lan + ", vlan: 4095":                     "spec.vlan: Invalid value",
		lan + ", type: macvlan, vlan: 7":         "spec.vlan: Forbidden",
		lan + ", type: macvlan, master: a/b":     "spec.master: Invalid value",
		lan + ", mtu: 67":                        "spec.mtu: Invalid value",
		lan + ", routes: [0.0.0.0/0]":            "spec.routes[0]: Invalid value",
		lan + ", routes: [10.10.0.0/16]":         "spec.routes[0]: Invalid value",
		"cidr: 10.11.0.0/24, gateway: 10.11.0.1": "spec.type: Invalid value: \"bridge\": field is immutable",
	} {
		manifest := fmt.Sprintf("{apiVersion: model.github.com/v1, kind: Network, metadata: {name: own}, spec: {%s}}", spec)
		if got := c.Kubectl.RunFailing(manifest, "replace", "--filename=-"); !strings.Contains(got, want) {
			c.T.Errorf("%s: kubectl says %q, want %q", spec, got, want)
		}
	}
}

func isRestored(c *cluster) {
	for _, patch := range []string{`{"spec": {"config": "{}"}}`, `{"metadata": {"ownerReferences": null}}`, `{"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}}`} {
		if _, err := c.definitions.Patch(c.Ctx, "lan", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "another-client"}); err != nil {
			c.T.Fatal(err)
		}
		c.Eventually("the definition is as it was after "+patch, func() error {
			definition, err := c.definitions.Get(c.Ctx, "lan", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if controller := metav1.GetControllerOf(definition); controller == nil || controller.Name != "lan" {
				return fmt.Errorf("it is controlled by %v", controller)
			}
			if !strings.Contains(configOf(definition), `"type":"bridge"`) || definition.GetLabels()["app.kubernetes.io/managed-by"] != "modelbox-apiserver" {
				return fmt.Errorf("it is %v", definition.Object)
			}
			return nil
		})
	}
	if err := c.definitions.Delete(c.Ctx, "lan", metav1.DeleteOptions{}); err != nil {
		c.T.Fatal(err)
	}
	c.awaitConfig("lan", `"type":"bridge"`)
}

func leavesOthersAlone(c *cluster) {
	foreign := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": "{}"}}}
	foreign.SetGroupVersionKind(networkattachment.Kind)
	foreign.SetName("taken")
	if _, err := c.definitions.Create(c.Ctx, foreign, metav1.CreateOptions{}); err != nil {
		c.T.Fatal(err)
	}
	c.apply("taken", "cidr: 10.13.0.0/24, gateway: 10.13.0.1")
	c.awaitCondition("taken", modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotOwned, "taken", "model.github.com/adopt=true")
	c.awaitConfig("taken", "{}")
	c.Kubectl.Run("annotate", "mnet", "taken", "model.github.com/adopt=true")
	c.awaitCondition("taken", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	c.awaitConfig("taken", `"subnet":"10.13.0.0/24"`)
}

func saysThatThereIsNoAddress(c *cluster) {
	c.apply("small", "cidr: 10.14.0.0/31, gateway: 10.14.0.1")
	c.awaitCondition("small", modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonInvalid, "no address for a pod", "at most 30")
}

func attachesPods(c *cluster) {
	const annotation = "k8s.v1.cni.cncf.io/networks"
	box := framework.NewBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Networks = []string{"lan", "wan"} })
	run := framework.RunKubectl(c.Kubectl.Command("apply", "--dry-run=server", "--filename=-"), framework.Manifest("image: 'nginx:1.29', networks: [lan, wan]"))
	if want := "Warning: spec.networks[1]: " + warn.NoNetwork("wan"); run.Err != nil || !strings.Contains(run.Stderr, want) {
		c.T.Errorf("kubectl says %q, want %q", run.Stderr, want)
	}
	for _, spec := range []string{"networks: [Lan]", "networks: [lan, lan]", "networks: [lan], annotations: {" + annotation + ": lan}", "networks: [lan], podTemplate: {spec: {hostNetwork: true}}"} {
		if got := c.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.29', "+spec), "create", "--filename=-"); !strings.Contains(got, "spec.") {
			c.T.Errorf("%s: kubectl says %q", spec, got)
		}
	}
	ready := c.CreateReadyBox(box)
	framework.ExpectEqual(c.T, "annotation", "lan,wan", c.GetDeployment("web").Spec.Template.Annotations[annotation])

	pod := ready.Status.PodNames[0]
	c.attach(pod, fmt.Sprintf(`[{"name":"cni0","interface":"eth0","ips":["10.244.0.5"],"default":true,"dns":{}},
		{"name":"%s/lan","interface":"net1","ips":["10.10.0.2"],"mac":"9e:0c:d9:b2:f0:a6","dns":{}}]`, c.Name))
	want := []modelv1.PodNetwork{{Pod: pod, Network: "lan", Interface: "net1", Addresses: []string{"10.10.0.2"}, MAC: "9e:0c:d9:b2:f0:a6"}}
	c.AwaitBox("web", "lists the networks of its pod", func(box *modelv1.ModelBox) error {
		if diff := cmp.Diff(want, box.Status.PodNetworks); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	c.awaitNetwork("lan", "counts the address", func(network *modelv1.Network) error {
		status := network.Status
		if !slices.Equal(status.Boxes, []string{"web"}) || status.UsedAddresses != 1 || status.FreeAddresses != 252 {
			return fmt.Errorf("its status is %+v", status)
		}
		return nil
	})
	row := strings.Fields(strings.Split(c.Kubectl.Run("get", "mnet", "lan", "--output=wide"), "\n")[1])
	framework.ExpectEqual(c.T, "row", []string{"lan", "bridge", "10.10.0.0/24", "10.10.0.1", "Ready", "1"}, row[:6])
	framework.ExpectEqual(c.T, "addresses", []string{"1", "252"}, row[7:9])
}

func staysInUse(c *cluster) {
	run := framework.RunKubectl(c.Kubectl.Command("delete", "mnet", "lan", "--wait=false"), "")
	if want := "Warning: " + warn.NetworkInUse("lan", "web"); run.Err != nil || !strings.Contains(run.Stderr, want) {
		c.T.Errorf("kubectl says %q, want %q", run.Stderr, want)
	}
	c.awaitCondition("lan", modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonInUse, "web")
	c.awaitConfig("lan", `"type":"bridge"`)

	// The box no longer uses the Network, and its pod is still attached.
	pod := c.GetBox("web").Status.PodNames[0]
	c.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Networks = nil })
	c.Eventually("the network is gone when the last pod is", func() error {
		_, err := c.networks.Get(c.Ctx, "lan", metav1.GetOptions{})
		if _, podErr := c.Pods.Get(c.Ctx, pod, metav1.GetOptions{}); err != nil && podErr == nil {
			c.T.Errorf("the Network was deleted before pod %s", pod)
		}
		return framework.CheckGone(err)
	})
	framework.Eventually(c.T, framework.CollectorPatience, "its definition is gone", func() error {
		_, err := c.definitions.Get(c.Ctx, "lan", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	c.apply("lan", lan)
	c.awaitCondition("lan", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
}

func isQuiet(c *cluster) {
	writes := func() []string {
		var writes []string
		for _, log := range []string{c.ControlPlane.ClusterAuditLog(), c.ControlPlane.ServerAuditLog()} {
			for _, write := range framework.ReadWrites(c.T, log, c.Name) {
				resource := write.ObjectRef.Resource
				if framework.IsAccepted(write) && (resource == "networks" || resource == networkattachment.Resource.Resource) && write.ObjectRef.Name == "lan" {
					writes = append(writes, fmt.Sprintf("%s %s %s", write.Verb, resource, write.ObjectRef.Subresource))
				}
			}
		}
		return writes
	}
	before := writes()
	// A change without an effect on the render is only recorded. A later Network is reconciled after it.
	c.Kubectl.Run("label", "mnet", "lan", "team=shop")
	c.Eventually("the definition has the record of the network", func() error {
		definition, err := c.definitions.Get(c.Ctx, "lan", metav1.GetOptions{})
		if err != nil {
			return err
		}
		recorded, err := networkrender.ReadRecord(definition.GetAnnotations()[modelv1.RecordAnnotation])
		if err != nil {
			return err
		}
		if recorded.Labels["team"] != "shop" {
			return fmt.Errorf("its labels are %v", recorded.Labels)
		}
		return nil
	})
	c.apply("later", "cidr: 10.15.0.0/24, gateway: 10.15.0.1")
	c.awaitCondition("later", modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	if after := writes(); len(after) != len(before)+2 {
		c.T.Errorf("beside its label and its record, network lan was written: %d writes before, and then %q", len(before), after)
	}
}
