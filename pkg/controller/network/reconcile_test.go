// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const notServed = "False NotServed: the cluster does not serve NetworkAttachmentDefinition of k8s.cni.cncf.io/v1"

func TestNetworkIsProtectedBeforeAnythingElse(t *testing.T) {
	f := newTestController(t, newNetwork())
	check(t, "writes", []string{"patch"}, f.reconcile())
	check(t, "finalizers", []string{modelv1.NetworkProtectionFinalizer}, f.network().Finalizers)
	check(t, "conditions", 0, len(f.network().Status.Conditions))
}

func TestNetworkOfAKindThatIsNotServedSaysSo(t *testing.T) {
	f := newTestController(t, newNetwork(protected))
	check(t, "writes", []string{"update status"}, f.reconcile())
	check(t, "Applied", notServed, f.condition(modelv1.ConditionApplied))
	check(t, "Ready", notServed, f.condition(modelv1.ConditionReady))
	check(t, "free addresses", int32(253), f.network().Status.FreeAddresses)
	check(t, "events", []string(nil), f.told())
	check(t, "writes when nothing has happened", []string(nil), f.reconcile())
}

func TestNetworkWithoutAnAddressForAPodIsInvalid(t *testing.T) {
	f := newTestController(t, newNetwork(protected, func(network *modelv1.Network) { network.Spec.CIDR = "10.10.0.0/31" }))
	f.reconcile()
	const want = "10.10.0.0/31 has no address for a pod beside the gateway: the prefix length is to be at most 30"
	check(t, "Applied", "False Invalid: "+want, f.condition(modelv1.ConditionApplied))
	check(t, "events", []string{"Warning Invalid " + want}, f.told())
}

func TestStatusTellsWhoUsesTheNetwork(t *testing.T) {
	f := newTestController(t, newNetwork(protected))
	finished := newPod("job", "job-1", `[{"name":"lan","ips":["10.10.0.9"]}]`)
	finished.Status.Phase = corev1.PodSucceeded
	elsewhere := newPod("other", "other-1", `[{"name":"default/lan","ips":["10.10.0.8"]}]`)
	elsewhere.Namespace = "shop"
	f.cache(
		newBox("web", "wan", "lan"), newBox("idle", "lan"), newBox("beside", "wan"), newBox("left"),
		newPod("web", "web-1", `[{"name":"default/lan","ips":["10.10.0.2","2001:db8::2"]},{"name":"wan","ips":["10.10.0.7"]}]`),
		newPod("web", "web-2", `[{"name":"lan","ips":["10.10.0.3/24"]}]`),
		newPod("left", "left-1", `[{"name":"lan","interface":"net1","ips":["10.10.0.4"]},{"name":"lan","interface":"net2","ips":["10.10.0.5"]}]`),
		finished, elsewhere,
	)
	f.reconcile()
	status := f.network().Status
	check(t, "boxes", []string{"idle", "left", "web"}, status.Boxes)
	check(t, "used addresses", int32(4), status.UsedAddresses)
	check(t, "free addresses", int32(249), status.FreeAddresses)
}

func TestStatusListsSomeOfManyBoxes(t *testing.T) {
	f := newTestController(t, newNetwork(protected))
	for i := range modelv1.MaxNetworkBoxes + 3 {
		f.cache(newBox(fmt.Sprintf("web-%03d", i), "lan"))
	}
	f.reconcile()
	check(t, "boxes that are listed", modelv1.MaxNetworkBoxes, len(f.network().Status.Boxes))
	check(t, "boxes that are omitted", int32(3), f.network().Status.BoxesOmitted)
}

func TestNetworkInUseStaysUntilNoBoxUsesIt(t *testing.T) {
	f := newTestController(t, newNetwork(protected, deleted))
	web, pod := newBox("web", "lan"), newPod("web", "web-1", `[{"name":"lan","ips":["10.10.0.2"]}]`)
	f.cache(web, pod)
	check(t, "writes", []string{"update status"}, f.reconcile())
	const inUse = "the network is deleted once no box uses it: web"
	check(t, "Ready", "False InUse: "+inUse, f.condition(modelv1.ConditionReady))
	check(t, "events", []string{"Warning InUse " + inUse}, f.told())
	check(t, "writes when nothing has happened", []string(nil), f.reconcile())

	if err := f.boxes.Delete(web); err != nil {
		t.Fatal(err)
	}
	check(t, "writes while its pod is there", []string(nil), f.reconcile())

	if err := f.pods.Delete(pod); err != nil {
		t.Fatal(err)
	}
	check(t, "writes when it has gone", []string{"patch"}, f.reconcile())
	check(t, "finalizers", 0, len(f.network().Finalizers))
}

func TestNetworkIsNotLetGoOnTheWordOfACache(t *testing.T) {
	f := newTestController(t, newNetwork(protected, deleted))
	if _, err := f.models.ModelV1().ModelBoxes(lanKey.Namespace).Create(t.Context(), newBox("new", "lan"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp()
	check(t, "writes", []string{"update status"}, f.reconcile())
	check(t, "boxes", []string{"new"}, f.network().Status.Boxes)
}

func TestNetworkWithoutTheFinalizerIsLeftToOthers(t *testing.T) {
	f := newTestController(t, newNetwork(deleted, func(network *modelv1.Network) { network.Finalizers = []string{"example.com/other"} }))
	f.cache(newBox("web", "lan"))
	check(t, "writes", []string(nil), f.reconcile())
}

func TestNumbersOfAddressesAreWrittenAtTheirPace(t *testing.T) {
	f := newTestController(t, newNetwork(protected))
	f.cache(newBox("web", "lan"))
	f.reconcile()
	f.cache(newPod("web", "web-1", `[{"name":"lan","ips":["10.10.0.2"]}]`))
	delay, err := f.Controller.ReconcileKey(t.Context(), lanKey)
	if err != nil || delay <= 0 || f.network().Status.UsedAddresses != 0 {
		t.Errorf("got delay %s, %v, status %+v", delay, err, f.network().Status)
	}
	check(t, "writes later", []string{"update status"}, f.reconcile())
	check(t, "used addresses", int32(1), f.network().Status.UsedAddresses)
}
