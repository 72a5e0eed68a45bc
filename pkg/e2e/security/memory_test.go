// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

const (
	// memoryLimitMiB is what the server may take, and goMemoryLimit what the runtime of Go is told, as the manifests tell it.
	memoryLimitMiB = 512
	goMemoryLimit  = "460MiB"

	// largestBoxes is how many boxes of the largest size the server has to hold.
	largestBoxes = 50
)

// TestOneUserDoesNotFillTheMemory lets a user who may create, get and patch boxes in one namespace make them as large as
// the server lets them become. The server goes on to serve all others within its limit of memory, and starts again.
// It is not parallel: it starts a server.
func TestOneUserDoesNotFillTheMemory(t *testing.T) {
	script := filepath.Join(t.TempDir(), "server")
	content := fmt.Sprintf("#!/bin/sh\nGOMEMLIMIT=%s exec %q \"$@\"\n", goMemoryLimit, framework.Binary("modelbox-apiserver"))
	if err := os.WriteFile(script, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	p := framework.NewControlPlane(t, append(framework.ServerFlags("--max-modelbox-bytes-per-namespace=-1"), "--server="+script)...)
	victim, n := p.NewNamespace(t), p.NewNamespace(t)
	n.Kubectl.Run("create", "role", "boxes", "--verb=create,get,patch", "--resource=modelboxes.model.github.com")
	n.Kubectl.Run("create", "rolebinding", "mallory", "--role=boxes", "--user=mallory")
	n.Kubectl.AwaitAllowed("mallory", "patch modelboxes.model.github.com")
	mallory := n.BoxesAs("mallory")
	victim.CreateReadyBox(framework.NewBox("web"))

	t.Run("by managed fields", func(t *testing.T) {
		n := n.In(t)
		if _, err := mallory.Create(n.Ctx, framework.NewBox("grown"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for i := range 24 {
			// The first one that is too large clears the managed fields, and the others do not apply then.
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
	expectMemory(t, p)
	pid := p.ServerPID(t)
	p.SignalServer(t, syscall.SIGKILL)
	victim.AwaitServerRestart(pid)
	expectServed(t, victim, n, largestBoxes+1)
	expectMemory(t, p)
}

// largestBox returns a box with as much metadata as a box may have. Its managed fields are added by a patch.
func largestBox(name string) *modelv1.ModelBox {
	box := framework.NewBox(name, framework.Pause)
	box.Annotations = map[string]string{"note": strings.Repeat("n", 250_000)}
	box.Labels = map[string]string{}
	for i := range 250 {
		box.Labels[fmt.Sprintf("label-%d", i)] = strings.Repeat("v", 63)
	}
	return box
}

// addManagedFields adds an entry of managed fields with a field whose name has so many letters.
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

// expectServed lists the boxes of both namespaces, and changes the one of the victim.
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

// expectMemory compares the most memory that the server has taken with its limit.
func expectMemory(t *testing.T, p *framework.ControlPlane) {
	t.Helper()
	peak, err := peakMemoryKiB(p.ServerPID(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the server took %d MiB at most", peak>>10)
	if peak > memoryLimitMiB<<10 {
		t.Errorf("the server took %d MiB, limit is %d MiB", peak>>10, memoryLimitMiB)
	}
}

// peakMemoryKiB reads the high-water mark of the memory of a process.
func peakMemoryKiB(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var peak int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &peak); err == nil {
			return peak, nil
		}
	}
	return 0, errors.New("no line has VmHWM")
}
