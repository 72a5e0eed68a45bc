// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modelinformers "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

var keySecret = types.NamespacedName{Namespace: "modelbox-system", Name: "key"}

// testController is a controller that runs, in the time of a bubble of synctest.
type testController struct {
	t        *testing.T
	boxes    *modelfake.Clientset
	cluster  *fake.Clientset
	recorder *events.FakeRecorder
}

func newTestController(t *testing.T, watchesSecrets bool, prepare func(*testController), objects ...runtime.Object) *testController {
	c := &testController{t: t, boxes: modelfake.NewSimpleClientset(), cluster: fake.NewClientset(objects...), recorder: events.NewFakeRecorder(100)}
	if prepare != nil {
		prepare(c)
	}
	factory := modelinformers.NewSharedInformerFactory(c.boxes, 0)
	health := cachehealth.NewMonitor()
	controller, err := New(ControllerParameters{
		ModelClient: c.boxes,
		KubeClient:  c.cluster,
		Boxes:       factory.Model().V1().ModelBoxes(),
		CacheHealth: health,
		Recorder:    c.recorder,
		Clock:       clock.RealClock{},

		RestartRate:    2,
		WatchesSecrets: watchesSecrets,
		KeySecret:      keySecret,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	ended := make(chan error)
	go func() { ended <- controller.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		factory.Shutdown()
	})
	return c
}

// apply creates the box, or replaces its spec.
func (c *testController) apply(box *modelv1.ModelBox) {
	c.t.Helper()
	boxes := c.boxes.ModelV1().ModelBoxes(box.Namespace)
	_, err := boxes.Create(c.t.Context(), box, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = boxes.Update(c.t.Context(), box, metav1.UpdateOptions{})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.settle()
}

// settle lets the controller work for a while.
func (c *testController) settle() {
	time.Sleep(time.Second) // of the bubble
	synctest.Wait()
}

func (c *testController) recorded(name string) modelboxrender.ReferenceHashes {
	c.t.Helper()
	box, err := c.boxes.ModelV1().ModelBoxes("default").Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return modelboxrender.RecordedReferences(&box.Spec)
}

// writes returns how often boxes were written, other than by the test.
func (c *testController) writes() int {
	var writes int
	for _, action := range c.boxes.Actions() {
		if action.GetVerb() == "patch" {
			writes++
		}
	}
	return writes
}

// distinctWrites is writes without repetitions. The fake API server has no resource versions. Therefore the controller does not wait for its
// cache, and may repeat a write.
func (c *testController) distinctWrites() int {
	distinct := sets.New[string]()
	for _, action := range c.boxes.Actions() {
		if patch, isPatch := action.(clienttesting.PatchAction); isPatch {
			distinct.Insert(patch.GetName() + string(patch.GetPatch()))
		}
	}
	return distinct.Len()
}

func (c *testController) event() string {
	select {
	case event := <-c.recorder.Events:
		return event
	default:
		return ""
	}
}

func (c *testController) updateConfigMap(change func(*corev1.ConfigMap)) {
	c.t.Helper()
	configMaps := c.cluster.CoreV1().ConfigMaps("default")
	configMap, err := configMaps.Get(c.t.Context(), "settings", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	change(configMap)
	if _, err := configMaps.Update(c.t.Context(), configMap, metav1.UpdateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	c.settle()
}

func settings(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}, Data: data}
}

// referringBox is a box whose pods use the key "used" of ConfigMap settings, and Secret db.
func referringBox(name string) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec: modelv1.ModelBoxSpec{
			Image:     "nginx:1",
			RestartOn: ptr.To(modelv1.RestartOnReferences),
			Envs: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "used",
			}}}},
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}},
		},
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	return box
}

func TestChangedReferencesRestartABox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, true, nil, settings(map[string]string{"used": "1", "unused": "1"}))
		c.apply(referringBox("web"))
		first := c.recorded("web")
		if first.Objects["ConfigMap/settings"]["used"] == "" || len(first.Objects["ConfigMap/settings"]) != 1 || first.Objects["Secret/db"] != nil {
			t.Fatalf("the hashes of a new box are %v", first)
		}
		if event := c.event(); event != "" {
			t.Errorf("a new box has the event %q", event)
		}

		writes := c.writes()
		c.updateConfigMap(func(configMap *corev1.ConfigMap) { configMap.Labels = map[string]string{"a": "b"} })
		c.updateConfigMap(func(configMap *corev1.ConfigMap) { configMap.Data["unused"] = "2" })
		if got := c.writes(); got != writes {
			t.Errorf("%d writes after changes of other fields and keys", got-writes)
		}

		c.updateConfigMap(func(configMap *corev1.ConfigMap) { configMap.Data["used"] = "2" })
		if second := c.recorded("web"); second.Objects["ConfigMap/settings"]["used"] == first.Objects["ConfigMap/settings"]["used"] || second.Of != first.Of {
			t.Errorf("the hashes after a change are %v, and were %v", second, first)
		}
		if event, want := c.event(), "Normal Restarted Restarted the box because its references changed: ConfigMap settings (used)"; event != want {
			t.Errorf("event %q, want %q", event, want)
		}

		if _, err := c.cluster.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"}, Data: map[string][]byte{"password": []byte("secret")},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		if event, want := c.event(), "Normal Restarted Restarted the box because its references changed: Secret db (created)"; event != want {
			t.Errorf("event %q, want %q", event, want)
		}

		before := c.recorded("web")
		if err := c.cluster.CoreV1().ConfigMaps("default").Delete(t.Context(), "settings", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		if got := c.recorded("web").Objects["ConfigMap/settings"]; got != nil {
			t.Errorf("the hashes of a deleted ConfigMap are %v", got)
		}
		if _, err := c.cluster.CoreV1().ConfigMaps("default").Create(t.Context(), settings(map[string]string{"used": "2"}), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		if got, want := fmt.Sprint(c.recorded("web")), fmt.Sprint(before); got != want {
			t.Errorf("the hashes of a ConfigMap that was created again are %s, want %s as before", got, want)
		}
	})
}

func TestSecretsAreNotWatchedByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, false, nil, settings(map[string]string{"used": "1"}))
		c.apply(referringBox("web"))
		if _, isHashed := c.recorded("web").Objects["Secret/db"]; isHashed {
			t.Error("the Secret is hashed")
		}
		for _, action := range c.cluster.Actions() {
			if action.GetResource().Resource == "secrets" && action.GetNamespace() != keySecret.Namespace {
				t.Errorf("%s of the Secrets in namespace %s", action.GetVerb(), action.GetNamespace())
			}
		}
	})
}

func TestKeyIsSharedAndKept(t *testing.T) {
	var first string
	var key *corev1.Secret
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, false, nil, settings(map[string]string{"used": "1"}))
		c.apply(referringBox("web"))
		first = c.recorded("web").Objects["ConfigMap/settings"]["used"]
		var err error
		if key, err = c.cluster.CoreV1().Secrets(keySecret.Namespace).Get(t.Context(), keySecret.Name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, false, nil, settings(map[string]string{"used": "1"}), key)
		c.apply(referringBox("web"))
		if got := c.recorded("web").Objects["ConfigMap/settings"]["used"]; got != first {
			t.Errorf("another server has the hash %s, want %s", got, first)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		key := key.DeepCopy()
		key.Data = nil
		c := newTestController(t, false, nil, key)
		c.apply(referringBox("web"))
		const want = "Secret modelbox-system/key: it has no key: delete it, and the server creates it again"
		if event := c.event(); !strings.Contains(event, want) {
			t.Errorf("event %q, want %q in it", event, want)
		}
	})
}

// A cache that cannot be filled, such as for the lack of a permission, must not look like deleted objects.
func TestUnreadableObjectsDoNotRestartABox(t *testing.T) {
	// They wait in real time.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	synctest.Test(t, func(t *testing.T) {
		isRefused := true
		refuse := func(clienttesting.Action) (bool, runtime.Object, error) {
			if !isRefused {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no"))
		}
		c := newTestController(t, false, func(c *testController) { c.cluster.PrependReactor("list", "configmaps", refuse) }, settings(map[string]string{"used": "1"}))
		c.apply(referringBox("web"))
		if got := c.recorded("web"); got.Of != "" {
			t.Errorf("the hashes of unknown objects are %v", got)
		}
		if event := c.event(); !strings.Contains(event, "watching the ConfigMaps of the namespace") {
			t.Errorf("event %q, want the reason", event)
		}
		isRefused = false
		time.Sleep(5 * time.Minute) // of the bubble: the reflector tries again
		if got := c.recorded("web"); got.Objects["ConfigMap/settings"]["used"] == "" {
			t.Errorf("the hashes of known objects are %v", got)
		}
	})
}

func TestPausedBoxesAndBoxesWithoutRestartsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, false, nil, settings(map[string]string{"used": "1"}))
		paused, without := referringBox("paused"), referringBox("without")
		paused.Spec.Paused, without.Spec.RestartOn = true, nil
		c.apply(paused)
		c.apply(without)
		if writes := c.writes(); writes != 0 {
			t.Errorf("%d writes", writes)
		}
		paused = paused.DeepCopy()
		paused.Spec.Paused = false
		c.apply(paused)
		if got := c.recorded("paused"); got.Of == "" {
			t.Error("a box that is no longer paused has no hashes")
		}
	})
}

func TestManyBoxesRestartAtARate(t *testing.T) {
	const boxes = 50
	synctest.Test(t, func(t *testing.T) {
		c := newTestController(t, false, nil, settings(map[string]string{"used": "1"}))
		for i := range boxes {
			c.apply(referringBox(fmt.Sprintf("web-%d", i)))
		}
		if writes := c.distinctWrites(); writes != boxes {
			t.Fatalf("%d writes for %d new boxes", writes, boxes)
		}
		c.updateConfigMap(func(configMap *corev1.ConfigMap) { configMap.Data["used"] = "2" })
		// Of the burst and of two boxes a second, one namespace gets half.
		if restarts := c.distinctWrites() - boxes; restarts < burst/2 || restarts > burst/2+2 {
			t.Errorf("%d boxes restart at once, want about %d", restarts, burst/2)
		}
		time.Sleep(20 * time.Second) // of the bubble
		if restarts := c.distinctWrites() - boxes; restarts < burst/2+18 || restarts > burst/2+23 {
			t.Errorf("%d boxes have restarted after 20 seconds, want about %d", restarts, burst/2+20)
		}
		time.Sleep(time.Minute)
		if restarts := c.distinctWrites() - boxes; restarts != boxes {
			t.Errorf("%d boxes have restarted, want each of %d once", restarts, boxes)
		}
	})
}
