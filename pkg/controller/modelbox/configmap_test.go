// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// configured gives the box a config of each of two kinds.
func configured(box *modelv1.ModelBox) {
	box.Spec.Configs = []modelv1.ModelBoxConfig{
		{MountPath: "/etc/web", Rollout: modelv1.ConfigRolloutRestart, Data: map[string]string{"web.conf": "workers 4;", "empty": ""},
			BinaryData: map[string][]byte{"logo": {0xff}}},
		{Name: "rules", MountPath: "/etc/rules", Rollout: modelv1.ConfigRolloutVersioned, Data: map[string]string{"rules": "none"}},
	}
}

func (f *testController) configMap(t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	configMap, err := f.cluster.CoreV1().ConfigMaps(fixture.WebKey.Namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return configMap
}

func (f *testController) configMapNames(t *testing.T) []string {
	t.Helper()
	list, err := f.cluster.CoreV1().ConfigMaps(fixture.WebKey.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

func TestReconcileWritesConfigMapsOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, configured))
	f.converge(t)
	f.restart()
	f.mustReconcile(t)
	check(t, "requests", 0, len(f.cluster.Actions()))
}

// The controller finds a file that a user has changed with a cache that has no files.
func TestReconcileRestoresAFile(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, configured))
	f.converge(t)
	f.told()
	changed := f.configMap(t, "web")
	changed.Data["web.conf"], changed.BinaryData["logo"] = "workers 5;", []byte{0xfe}
	if _, err := f.cluster.CoreV1().ConfigMaps(changed.Namespace).Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	steps, _, err := f.children.Plan(fixture.WebBox(t, configured))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "differences in the cache", []string{".binaryData.logo", ".data.web.conf"}, fixture.Paths(steps[0].Difference.Fields))

	f.mustReconcile(t)
	check(t, "data", map[string]string{"web.conf": "workers 4;", "empty": ""}, f.configMap(t, "web").Data)
	check(t, "binary data", map[string][]byte{"logo": {0xff}}, f.configMap(t, "web").BinaryData)
	check(t, "events", []string{"Warning RestoredConfigMap Restored ConfigMap web: kubectl-edit had changed binaryData.logo, data.web.conf"}, f.told())
}

func TestDataIsTrimmedOnce(t *testing.T) {
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Data:       map[string]string{"web.conf": "workers 4;"}, BinaryData: map[string][]byte{"logo": {1}},
	}
	for range 2 {
		if _, err := kinds.TrimChild(configMap); err != nil {
			t.Fatal(err)
		}
		check(t, "data", map[string]string{"web.conf": "c70edabfc007d44c"}, configMap.Data)
		check(t, "binary data", map[string][]byte{"logo": []byte(fields.Digest("\x01"))}, configMap.BinaryData)
	}
}

func TestImmutableData(t *testing.T) {
	rendered := fixture.Rendered(t, fixture.WebBox(t, configured), "ConfigMap")
	same, sameBinary := map[string]string{"web.conf": "workers 4;", "empty": ""}, map[string][]byte{"logo": {0xff}}
	for _, row := range []struct {
		name string
		live *corev1.ConfigMap
		want string
	}{
		{"other data that may be changed", &corev1.ConfigMap{Data: map[string]string{"web.conf": "other"}}, ""},
		{"the same data that may not be changed", &corev1.ConfigMap{Data: same, BinaryData: sameBinary, Immutable: ptr.To(true)}, ""},
		{"other binary data that may not be changed", &corev1.ConfigMap{Data: same, BinaryData: map[string][]byte{"logo": {0}}, Immutable: ptr.To(true)},
			"it is immutable and has other data"},
		{"other data that may not be changed", &corev1.ConfigMap{Data: map[string]string{"web.conf": "other"}, Immutable: ptr.To(true)}, "it is immutable and has other data"},
		{"more data that may not be changed", &corev1.ConfigMap{Data: map[string]string{"web.conf": "workers 4;", "empty": "", "more": ""}, Immutable: ptr.To(true)},
			"it is immutable and has other data"},
	} {
		t.Run(row.name, func(t *testing.T) { check(t, "obstacle", row.want, modelboxrender.Immutable(rendered, row.live)) })
	}
}

func TestConfigMapsInUse(t *testing.T) {
	mounts := func(configMap string) corev1.PodSpec {
		return corev1.PodSpec{Volumes: []corev1.Volume{{Name: "config-rules", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}},
		}}}}
	}
	pod := func(configMap string, changes ...func(*corev1.Pod)) *corev1.Pod {
		return newPod("web-1", append(changes, func(pod *corev1.Pod) { pod.Spec = mounts(configMap) })...)
	}
	for _, row := range []struct {
		name     string
		workload children.Object
		pods     []*corev1.Pod
		want     bool
	}{
		{"without pods", completeDeployment(), nil, false},
		{"while pods have another one", completeDeployment(), []*corev1.Pod{pod("web-rules-2")}, false},
		{"while a pod has it", completeDeployment(), []*corev1.Pod{pod("web-rules-1")}, true},
		{"while a pod that has it terminates", completeDeployment(), []*corev1.Pod{pod("web-rules-1", func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.Now()) })}, true},
		{"when a pod that had it has failed", completeDeployment(), []*corev1.Pod{pod("web-rules-1", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })}, false},
		{"while a rollout runs", completeDeployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }), []*corev1.Pod{pod("web-rules-2")}, true},
		{"while the rollout has not begun", completeDeployment(func(d *appsv1.Deployment) { d.Generation++ }), nil, true},
		{"while new pods would get it", completeDeployment(func(d *appsv1.Deployment) { d.Spec.Template.Spec = mounts("web-rules-1") }), nil, true},
		{"without a Deployment", nil, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t))
			for _, pod := range row.pods {
				f.cache(t, pod)
			}
			got, err := kinds.PodMounts{Pods: f.pods}.IsMounted(fixture.WebKey, kinds.AsWorkload(row.workload), func(volume corev1.Volume) bool {
				return volume.ConfigMap != nil && volume.ConfigMap.Name == "web-rules-1"
			})
			if err != nil {
				t.Fatal(err)
			}
			check(t, "in use", row.want, got)
		})
	}
}

// A version is deleted in the first reconcile that finds it unused, whatever the box asks for meanwhile.
func TestReconcilePrunesAVersionThatNoPodHas(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, configured))
	f.converge(t)
	rules := f.configMapNames(t)[1]
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Configs = box.Spec.Configs[:1] })
	f.catchUp(t)
	f.mustReconcile(t)
	f.catchUp(t)
	check(t, "ConfigMaps before the rollout", []string{"web", rules}, f.configMapNames(t))

	f.completeRollout(t)
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "ConfigMaps after the rollout", []string{"web"}, f.configMapNames(t))
}
