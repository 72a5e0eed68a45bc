// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// healingVariable is the environment variable that selects the edits: one of each given number.
	healingVariable = "MODELBOX_E2E_HEALING"
	shortHealing    = 47

	// maxHealingWrites is the maximum number of writes of one child, including its creation.
	maxHealingWrites = 4
)

// childResource is a resource of children for the dynamic client.
type childResource struct {
	schema.GroupVersionResource
	kind string
	// isMadeOf returns whether boxes with the spec have a child of the resource.
	isMadeOf func(*modelv1.ModelBoxSpec) bool
}

var childResources = []childResource{
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "Deployment",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.Workload == "" }},
	{schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, "Job",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.Workload == modelv1.WorkloadJob }},
	{schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, "CronJob",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.Workload == modelv1.WorkloadCronJob }},
	{schema.GroupVersionResource{Version: "v1", Resource: "services"}, "Service",
		func(spec *modelv1.ModelBoxSpec) bool { return len(spec.Ports) > 0 }},
	{schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, "HorizontalPodAutoscaler",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.Autoscaling != nil }},
	{schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}, "PodDisruptionBudget",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.DisruptionBudget != nil }},
	{schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}, "NetworkPolicy",
		func(spec *modelv1.ModelBoxSpec) bool { return spec.NetworkPolicy != nil }},
}

// TestEveryEditIsRestored edits every field that a render sets in every way, each on the child of a separate box. The controller
// must restore the child with the minimum number of writes, and one event must name the field manager.
func TestEveryEditIsRestored(t *testing.T) {
	t.Parallel()
	every := framework.Setting(t, healingVariable, shortHealing, strconv.Atoi)
	n := framework.NewNamespace(t)
	client, err := dynamic.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		t.Fatal(err)
	}
	m := &healingMatrix{Namespace: n, client: client}
	tried := 0
	for _, template := range readBoxes(t, "testdata/healing.boxes.yaml") {
		leaveOutLater(n, &template.Spec)
		n.CreateBox(template)
		n.AwaitApplied(template.Name)
		for _, resource := range childResources {
			if !resource.isMadeOf(&template.Spec) {
				continue
			}
			for i, edit := range fieldEdits(t, m.read(t, resource, template.Name)) {
				tried++
				if tried%every != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", template.Name, resource.kind, edit.name), func(t *testing.T) {
					t.Parallel()
					m.heal(t, fmt.Sprintf("e%d-%s", i, strings.ToLower(resource.kind[:1])+template.Name[:1]), template, resource, i)
				})
			}
		}
	}
	t.Cleanup(func() { m.expectFewWrites(t) })
}

// leaveOutLater removes the fields from a box that the cluster does not have yet.
func leaveOutLater(n *framework.Namespace, spec *modelv1.ModelBoxSpec) {
	if spec.Service != nil && n.ControlPlane.IsBefore(n.T, "1.34") {
		spec.Service.TrafficDistribution = nil
	}
	if scaling := spec.Autoscaling; scaling != nil && scaling.Behavior != nil && n.ControlPlane.IsBefore(n.T, "1.35") {
		scaling.Behavior.ScaleUp.Tolerance = nil
	}
}

func readBoxes(t *testing.T, file string) []*modelv1.ModelBox {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var boxes []*modelv1.ModelBox
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		box := &modelv1.ModelBox{}
		if err := yaml.UnmarshalStrict([]byte(document), box); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		boxes = append(boxes, box)
	}
	return boxes
}

type healingMatrix struct {
	*framework.Namespace
	client dynamic.Interface

	mu     sync.Mutex
	healed []string
}

func (m *healingMatrix) read(t *testing.T, resource childResource, name string) *unstructured.Unstructured {
	t.Helper()
	live, err := m.client.Resource(resource.GroupVersionResource).Namespace(m.Name).Get(m.Ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// heal creates a box like the template, makes the edit with the index, and waits until the child is restored.
func (m *healingMatrix) heal(t *testing.T, name string, template *modelv1.ModelBox, resource childResource, index int) {
	n := m.In(t)
	box := template.DeepCopy()
	box.Name, box.Spec.Name = name, "app"
	n.CreateBox(box)
	n.AwaitApplied(name)
	before := m.read(t, resource, name)
	edit := fieldEdits(t, before)[index]

	if !m.edit(t, resource, before, edit) {
		t.Skip("the API takes no such edit, or it changes nothing")
	}
	n.Eventually("the child is what it was", func() error {
		live, err := m.client.Resource(resource.GroupVersionResource).Namespace(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if diff := cmp.Diff(ownedByBox(before), ownedByBox(live)); diff != "" {
			return fmt.Errorf("(-before +now) after one of %s:\n%s", edit.patches, diff)
		}
		if diff := cmp.Diff(ownedByServer(t, before).String(), ownedByServer(t, live).String()); diff != "" {
			return fmt.Errorf("what the server owns is (-before +now):\n%s", diff)
		}
		return nil
	})
	n.AwaitApplied(name)
	m.expectOneEvent(n, resource, name)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.healed = append(m.healed, name)
}

// edit makes the edit with the first patch that the API accepts and that changes the child. It returns whether there is one.
func (m *healingMatrix) edit(t *testing.T, resource childResource, before *unstructured.Unstructured, edit fieldEdit) bool {
	t.Helper()
	for _, patch := range edit.patches {
		options := metav1.PatchOptions{FieldManager: framework.OtherManager}
		if edit.patchType == "application/apply-patch+yaml" {
			options.Force = ptr.To(true)
		}
		edited, err := m.client.Resource(resource.GroupVersionResource).Namespace(m.Name).
			Patch(m.Ctx, before.GetName(), edit.patchType, []byte(patch), options)
		if status := apierrors.APIStatus(nil); err != nil && !errors.As(err, &status) {
			t.Fatalf("%s: %v", patch, err)
		}
		if err == nil && cmp.Diff(ownedByBox(before), ownedByBox(edited)) != "" {
			return true
		}
	}
	return false
}

// ownedByBox returns the fields of a child that the box sets.
func ownedByBox(child *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(child.Object, "spec")
	if child.GetKind() == "Service" {
		for _, given := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
			delete(spec, given)
		}
		ports, _ := spec["ports"].([]any)
		for _, port := range ports {
			delete(port.(map[string]any), "nodePort")
		}
	}
	annotations := child.GetAnnotations()
	return map[string]any{
		"labels":      child.GetLabels(),
		"annotations": map[string]string{modelv1.RenderHashAnnotation: annotations[modelv1.RenderHashAnnotation]},
		"owners":      child.GetOwnerReferences(),
		"spec":        spec,
	}
}

// expectOneEvent expects one event about the restoration of the child, with the field manager.
func (m *healingMatrix) expectOneEvent(n *framework.Namespace, resource childResource, box string) {
	n.T.Helper()
	n.Events.Await(box, "Restored"+resource.kind, "had changed")
	for _, event := range n.Events.About(box) {
		// A field that was removed has no manager.
		isManagerNamed := strings.Contains(event.Note, framework.OtherManager) || strings.Contains(event.Note, "another client")
		switch {
		case !strings.HasPrefix(event.Reason, "Restored"):
		case event.Series != nil:
			n.T.Errorf("an edit was reported %d times: %s", event.Series.Count, event.Note)
		case event.Type != corev1.EventTypeWarning || !isManagerNamed:
			n.T.Errorf("the event does not say who it was: %s", event.Note)
		}
	}
}

// expectFewWrites expects that no child was written more often than maxHealingWrites.
func (m *healingMatrix) expectFewWrites(t *testing.T) {
	writes := map[string][]string{}
	for _, write := range framework.ReadWrites(t, m.ControlPlane.ClusterAuditLog(), m.Name) {
		if strings.Contains(write.User.Username, "modelbox") && framework.IsAccepted(write) {
			key := write.ObjectRef.Resource + " " + write.ObjectRef.Name
			writes[key] = append(writes[key], write.Verb)
		}
	}
	if len(m.healed) == 0 {
		t.Error("nothing was healed")
	}
	for child, verbs := range writes {
		if len(verbs) > maxHealingWrites {
			t.Errorf("%s was written %d times: %v", child, len(verbs), verbs)
		}
	}
	t.Logf("%d edits were healed", len(m.healed))
}
