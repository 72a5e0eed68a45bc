// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// largestBoxes is the number of boxes of the largest size that the server must hold.
const largestBoxes = 50

// TestOneUserDoesNotFillTheMemory acts as a user with permission to create, get and patch boxes in one namespace. The user creates
// boxes of the largest size, forges records, and sends bodies that are large after decoding. With a memory limit of 512 MiB, the
// server continues to serve other users, and starts again. The test is not parallel, because it starts a server.
func TestOneUserDoesNotFillTheMemory(t *testing.T) {
	server := framework.LimitMemory(t, framework.Binary("modelbox-apiserver"), 512<<20)
	p := framework.NewControlPlane(t, append(framework.ServerFlags("--max-modelbox-bytes-per-namespace=-1"), "--server="+server)...)
	victim, n := p.NewNamespace(t), p.NewNamespace(t)
	n.Kubectl.Run("create", "role", "boxes", "--verb=create,get,patch", "--resource=modelboxes.model.github.com")
	n.Kubectl.Run("create", "rolebinding", "mallory", "--role=boxes", "--user=mallory")
	n.Kubectl.AwaitAllowed("mallory", "patch modelboxes.model.github.com")
	mallory := n.BoxesAs("mallory")
	victim.CreateReadyBox(framework.NewBox("web"))
	pid := p.ServerPID(t)

	t.Run("by managed fields", func(t *testing.T) {
		n := n.In(t)
		if _, err := mallory.Create(n.Ctx, framework.NewBox("grown"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range 24 {
			// The first patch that is too large clears the managed fields. Later patches then fail.
			if err := addManagedFields(n, mallory, "grown", i, 2_900_000); err != nil && !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsInvalid(err) {
				t.Fatalf("patch %d: %v", i, err)
			}
		}
		expectServed(t, victim, n, 1)
	})
	t.Run("by the largest boxes", func(t *testing.T) {
		n := n.In(t)
		for i := range largestBoxes {
			box := largestBox(fmt.Sprintf("large-%d", i))
			if _, err := mallory.Create(n.Ctx, box, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := addManagedFields(n, mallory, box.Name, 0, 1_040_000); err != nil {
				t.Fatal(err)
			}
		}
		expectServed(t, victim, n, largestBoxes+1)
		var lists sync.WaitGroup
		for range 5 {
			lists.Go(func() { expectServed(t, victim, n, largestBoxes+1) })
		}
		lists.Wait()
	})
	t.Run("by records", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("create", "role", "history", "--verb=get", "--resource=modelboxes.model.github.com/history")
		n.Kubectl.Run("create", "rolebinding", "history", "--role=history", "--user=mallory")
		n.Kubectl.AwaitAllowed("mallory", "get modelboxes.model.github.com --subresource=history")
		n.CreateReadyBox(framework.NewBox("recorded"))
		deployment, err := n.Deployments.Get(n.Ctx, "recorded", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for number := range 2 {
			set := revisionWithBomb(t, deployment, number)
			if _, err := n.ControlPlane.KubeClient.AppsV1().ReplicaSets(n.Name).Create(n.Ctx, set, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		atOnce(20, func() {
			if _, err := mallory.GetHistory(n.Ctx, "recorded", metav1.GetOptions{}); err != nil && !apierrors.IsTooManyRequests(err) {
				t.Errorf("reading the history: %v", err)
			}
		})
		expectServed(t, victim, n, largestBoxes+2)
	})
	t.Run("by bodies", func(t *testing.T) {
		n := n.In(t)
		client := modelclient.NewForConfigOrDie(p.ConfigAs("mallory")).RESTClient()
		body, err := (&runtime.Unknown{
			TypeMeta: runtime.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"},
			Raw:      withEmptyContainers(t, metav1.ObjectMeta{Name: "body"}, 1_400_000),
		}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body = append([]byte("k8s\x00"), body...)
		atOnce(20, func() {
			err := client.Post().Namespace(n.Name).Resource("modelboxes").SetHeader("Content-Type", runtime.ContentTypeProtobuf).
				Body(body).Do(n.Ctx).Error()
			if !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsTooManyRequests(err) {
				t.Errorf("sending a body of %d bytes: %v", len(body), err)
			}
		})
		expectServed(t, victim, n, largestBoxes+2)
	})
	if now := p.ServerPID(t); now != pid {
		t.Fatal("the kernel killed the server because of its memory")
	}
	p.SignalServer(t, syscall.SIGKILL)
	victim.AwaitServerRestart(pid)
	pid = p.ServerPID(t)
	expectServed(t, victim, n, largestBoxes+2)
	if now := p.ServerPID(t); now != pid {
		t.Error("the kernel killed the server after its start because of its memory")
	}
}

// atOnce calls a function several times concurrently.
func atOnce(times int, call func()) {
	var calls sync.WaitGroup
	for range times {
		calls.Go(call)
	}
	calls.Wait()
}

// revisionWithBomb returns a ReplicaSet that looks like a revision of the Deployment of a box. Its record has less than 1 KiB, and
// hundreds of MiB after decoding.
func revisionWithBomb(t *testing.T, deployment *appsv1.Deployment, number int) *appsv1.ReplicaSet {
	t.Helper()
	data := withEmptyContainers(t, metav1.ObjectMeta{Name: deployment.Name, Namespace: deployment.Namespace, UID: deployment.OwnerReferences[0].UID}, 240<<10)
	record := bytes.NewBuffer([]byte{1}) // the version
	compressor := gzip.NewWriter(record)
	if _, err := compressor.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	template := deployment.Spec.Template.DeepCopy()
	template.Spec.Containers[0].Image = fmt.Sprintf("forged:%d", number)
	labels := maps.Clone(template.Labels)
	labels["forged"] = strconv.Itoa(number)
	template.Labels = labels
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("forged-%d", number), Labels: labels,
			Annotations: map[string]string{
				"deployment.kubernetes.io/revision": strconv.Itoa(100 + number),
				modelv1.RecordAnnotation:            base64.StdEncoding.EncodeToString(record.Bytes()),
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *template},
	}
}

// withEmptyContainers returns a box in protobuf with a number of empty containers. Each has two bytes in protobuf, and hundreds in
// memory.
func withEmptyContainers(t *testing.T, meta metav1.ObjectMeta, count int) []byte {
	t.Helper()
	box, err := (&modelv1.ModelBox{ObjectMeta: meta}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const specField, containersField = 2, 14
	container := protowire.AppendBytes(protowire.AppendTag(nil, containersField, protowire.BytesType), nil)
	return protowire.AppendBytes(protowire.AppendTag(box, specField, protowire.BytesType), bytes.Repeat(container, count))
}

// largestBox returns a box with as much metadata as allowed. A patch adds its managed fields later.
func largestBox(name string) *modelv1.ModelBox {
	box := framework.NewBox(name, framework.Pause)
	box.Annotations = map[string]string{"note": strings.Repeat("n", 250_000)}
	box.Labels = map[string]string{}
	for i := range 250 {
		box.Labels[fmt.Sprintf("label-%d", i)] = strings.Repeat("v", 63)
	}
	return box
}

// addManagedFields adds an entry of managed fields with a field whose name has a number of letters.
func addManagedFields(n *framework.Namespace, boxes modelclient.ModelBoxInterface, name string, number, letters int) error {
	n.T.Helper()
	patch, err := json.Marshal([]map[string]any{{
		"op": "add", "path": "/metadata/managedFields/-",
		"value": map[string]any{
			"manager": fmt.Sprintf("manager-%d", number), "operation": "Apply", "apiVersion": "model.github.com/v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:" + strings.Repeat("a", letters): map[string]any{}}}},
		},
	}})
	if err != nil {
		n.T.Fatal(err)
	}
	_, err = boxes.Patch(n.Ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{})
	return err
}

// expectServed lists the boxes of both namespaces, and changes the box of the victim.
func expectServed(t *testing.T, victim, n *framework.Namespace, want int) {
	t.Helper()
	list, err := n.ControlPlane.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Errorf("listing all boxes: %v", err)
		return
	}
	in := map[string]int{}
	for _, box := range list.Items {
		in[box.Namespace]++
	}
	if in[victim.Name] != 1 || in[n.Name] != want {
		t.Errorf("the list has %d boxes of the victim, want 1, and %d of the other user, want %d", in[victim.Name], in[n.Name], want)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"seen":"%d"}}}`, want)
	if _, err := victim.Boxes.Patch(t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Errorf("changing the box of the victim: %v", err)
	}
}
