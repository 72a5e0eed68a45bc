// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/consistency"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// The owners of these tests are ConfigMaps, each of which asks for a Secret for each of its keys: kinds that the product
// knows nothing of.

const (
	pausedAnnotation = "example.com/paused"
	typeAnnotation   = "example.com/type"
)

var settingsKey = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "settings"}

// newSettings returns an owner that asks for the Secret settings-token.
func newSettings(changes ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: settingsKey.Name, Namespace: settingsKey.Namespace, UID: "settings-1"},
		Data:       map[string]string{"token": "secret"},
	}
	for _, change := range changes {
		change(settings)
	}
	return settings
}

func annotated(key, value string) func(*corev1.ConfigMap) {
	return func(settings *corev1.ConfigMap) { metav1.SetMetaDataAnnotation(&settings.ObjectMeta, key, value) }
}

// testEngine is an engine with a cluster whose caches only move when a test says so.
type testEngine struct {
	*Engine[*corev1.ConfigMap]
	settings *corev1.ConfigMap
	cluster  *fixture.Cluster
	clock    *testingclock.FakePassiveClock
	events   chan string
	metrics  *countedMetrics

	mu       sync.Mutex
	enqueued sets.Set[types.NamespacedName]
}

// countedMetrics has the counts of what was done, as "Secret create".
type countedMetrics map[string]int

func (m countedMetrics) ChildWritten(kind, operation string) { m[kind+" "+operation]++ }
func (m countedMetrics) DriftRestored(kind, manager string)  { m[kind+" changed by "+manager]++ }

// newTestEngine returns an engine, the owner in the cluster, and these objects, which the caches do not show.
func newTestEngine(t *testing.T, settings *corev1.ConfigMap, inCluster ...runtime.Object) *testEngine {
	t.Helper()
	f := &testEngine{
		settings: settings,
		cluster:  fixture.NewCluster(append(inCluster, settings.DeepCopy())...),
		clock:    testingclock.NewFakePassiveClock(time.Now()),
		metrics:  &countedMetrics{},
		enqueued: sets.New[types.NamespacedName](),
	}
	informer := informers.NewSharedInformerFactory(f.cluster, 0).Core().V1().Secrets().Informer()
	secrets := NewKind(apply.Kind{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: corev1.Resource("secrets")}, informer,
		func(namespace string) Client[*corev1.Secret] { return f.cluster.CoreV1().Secrets(namespace) })
	secrets.Immutable = func(rendered *unstructured.Unstructured, live Object) string {
		wanted, _, _ := unstructured.NestedString(rendered.Object, "type")
		if is := string(live.(*corev1.Secret).Type); is != wanted {
			return fmt.Sprintf("its type is %s and cannot become %s", is, wanted)
		}
		return ""
	}
	recorder := events.NewFakeRecorder(100)
	f.events = recorder.Events
	f.Engine = NewEngine(Config[*corev1.ConfigMap]{
		Owners: apply.Owners[*corev1.ConfigMap]{
			OwnerKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			Noun:      "map",
		},
		GetOwner: func(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
			return f.cluster.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		},
		IsPaused:      func(settings *corev1.ConfigMap) bool { return settings.Annotations[pausedAnnotation] == "true" },
		Render:        renderSecrets,
		Kinds:         []*Kind{secrets},
		TypeConverter: applyconfigurations.NewTypeConverter(scheme.Scheme),
		Consistency: consistency.NewStore(f.clock, map[schema.GroupResource]consistency.LastSyncRVGetter{
			secrets.Resource: informer.GetStore(),
		}),
		Enqueue: func(owner types.NamespacedName) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.enqueued.Insert(owner)
		},
		Recorder: recorder,
		Metrics:  f.metrics,
		Clock:    f.clock,
	})
	if err := informer.AddIndexers(f.Indexers()); err != nil {
		t.Fatal(err)
	}
	return f
}

// renderSecrets returns the Secrets that the settings ask for.
func renderSecrets(settings *corev1.ConfigMap, _ Live) ([]*unstructured.Unstructured, error) {
	var rendered []*unstructured.Unstructured
	for _, key := range slices.Sorted(maps.Keys(settings.Data)) {
		object := map[string]any{
			"apiVersion": "v1",
			"kind":       "Secret",
			"metadata": map[string]any{
				"name":      settings.Name + "-" + key,
				"namespace": settings.Namespace,
				"labels":    map[string]any{render.ManagedByLabel: render.ManagedBy},
				"ownerReferences": []any{map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "name": settings.Name, "uid": string(settings.UID),
					"controller": true, "blockOwnerDeletion": true,
				}},
			},
			"type": "Opaque",
			"data": map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(settings.Data[key]))},
		}
		if kind := settings.Annotations[typeAnnotation]; kind != "" {
			object["type"] = kind
		}
		data, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		secret := &unstructured.Unstructured{Object: object}
		secret.SetAnnotations(map[string]string{modelv1.RenderHashAnnotation: hex.EncodeToString(sum[:8])})
		rendered = append(rendered, secret)
	}
	return rendered, nil
}

// change changes the owner, in the cluster and in the cache.
func (f *testEngine) change(t *testing.T, change func(*corev1.ConfigMap)) {
	t.Helper()
	f.settings = f.settings.DeepCopy()
	change(f.settings)
	if _, err := f.cluster.CoreV1().ConfigMaps(f.settings.Namespace).Update(t.Context(), f.settings, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// reconcile returns the failures of the children.
func (f *testEngine) reconcile(t *testing.T) []string {
	t.Helper()
	var failures []string
	for _, err := range f.mustReconcile(t).Failures {
		failures = append(failures, err.Error())
	}
	return failures
}

func (f *testEngine) mustReconcile(t *testing.T) *Result {
	t.Helper()
	result, err := f.Reconcile(t.Context(), f.settings)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// catchUp lets the cache see what the cluster has, and forgets the requests and events until then.
func (f *testEngine) catchUp(t *testing.T) {
	t.Helper()
	secrets, err := f.cluster.CoreV1().Secrets(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: render.ManagedByLabel})
	if err != nil {
		t.Fatal(err)
	}
	var cached []any
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		secret.SetGroupVersionKind(f.Kinds[0].GroupVersionKind)
		apply.Trim(secret)
		cached = append(cached, secret)
	}
	if err := f.Kinds[0].Informer.GetIndexer().Replace(cached, ""); err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()
	f.told()
}

// converge reconciles until the cache shows the children as the owner asks for them.
func (f *testEngine) converge(t *testing.T) {
	t.Helper()
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	f.catchUp(t)
}

// requests returns what was sent to the cluster, as "patch secrets settings-token".
func (f *testEngine) requests() []string {
	var requests []string
	for _, action := range f.cluster.Actions() {
		if named, ok := action.(interface{ GetName() string }); ok {
			requests = append(requests, strings.Join([]string{action.GetVerb(), action.GetResource().Resource, named.GetName()}, " "))
		}
	}
	return requests
}

// told returns the events that were recorded since the last call.
func (f *testEngine) told() []string {
	var told []string
	for {
		select {
		case event := <-f.events:
			told = append(told, event)
		default:
			return told
		}
	}
}

func (f *testEngine) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret, err := f.cluster.CoreV1().Secrets(settingsKey.Namespace).Get(t.Context(), "settings-token", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// changeSecret lets a manager change the Secret.
func (f *testEngine) changeSecret(t *testing.T, manager string, change func(*corev1.Secret)) {
	t.Helper()
	secret := f.secret(t)
	change(secret)
	if _, err := f.cluster.CoreV1().Secrets(secret.Namespace).Update(t.Context(), secret, metav1.UpdateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
}

func TestReconcileCreatesWhatTheOwnerAsksFor(t *testing.T) {
	f := newTestEngine(t, newSettings(func(settings *corev1.ConfigMap) { settings.Data["key"] = "private" }))
	result := f.mustReconcile(t)
	fixture.Check(t, "failures", error(nil), result.Err())
	fixture.Check(t, "requests", []string{
		"get secrets settings-key", "patch secrets settings-key", "get secrets settings-token", "patch secrets settings-token",
	}, f.requests())
	fixture.Check(t, "events", []string{
		"Normal CreatedSecret Created Secret settings-key", "Normal CreatedSecret Created Secret settings-token",
	}, f.told())
	fixture.Check(t, "writes", countedMetrics{"Secret create": 2}, *f.metrics)
	fixture.Check(t, "value that is observed", "secret", string(Observed[*corev1.Secret](result, "settings-token").Data["value"]))
	fixture.Check(t, "what is not there", (*corev1.Secret)(nil), Observed[*corev1.Secret](result, "settings"))
	if owner, ok := f.OwnerOf(f.secret(t)); !ok || owner != settingsKey {
		t.Errorf("the owner is %s, found: %v", owner, ok)
	}

	f.catchUp(t)
	fixture.Check(t, "failures of the second time", []string(nil), f.reconcile(t))
	fixture.Check(t, "requests of the second time", []string(nil), f.requests())
}

func TestReconcileOfAConvergedOwner(t *testing.T) {
	for _, row := range []struct {
		name     string
		change   func(t *testing.T, f *testEngine)
		requests []string
		events   []string
		pending  []string
		writes   countedMetrics
		value    string
	}{
		{
			name: "what the owner changes is updated",
			change: func(t *testing.T, f *testEngine) {
				f.change(t, func(settings *corev1.ConfigMap) { settings.Data["token"] = "another" })
			},
			requests: []string{"patch secrets settings-token"},
			events:   []string{"Normal UpdatedSecret Updated Secret settings-token"},
			writes:   countedMetrics{"Secret create": 1, "Secret update": 1},
			value:    "another",
		},
		{
			name: "a field that a user changes is restored",
			change: func(t *testing.T, f *testEngine) {
				f.changeSecret(t, "kubectl-edit", func(secret *corev1.Secret) { secret.Data["value"] = []byte("forged") })
			},
			requests: []string{"get secrets settings-token", "patch secrets settings-token"},
			events:   []string{"Warning RestoredSecret Restored Secret settings-token: kubectl-edit had changed data.value"},
			writes:   countedMetrics{"Secret create": 1, "Secret restore": 1, "Secret changed by kubectl-edit": 1},
			value:    "secret",
		},
		{
			name: "a field that a user adds is left alone",
			change: func(t *testing.T, f *testEngine) {
				f.changeSecret(t, "kubectl-edit", func(secret *corev1.Secret) { secret.Data["more"] = []byte("theirs") })
			},
			writes: countedMetrics{"Secret create": 1},
			value:  "secret",
		},
		{
			name: "a child that cannot be changed is replaced, with the fields that other managers have set",
			change: func(t *testing.T, f *testEngine) {
				f.changeSecret(t, "kubectl-label", func(secret *corev1.Secret) { secret.Labels["team"] = "shop" })
				f.change(t, annotated(typeAnnotation, "example.com/token"))
			},
			requests: []string{
				"get secrets settings-token", "delete secrets settings-token", "get secrets settings-token",
				"patch secrets settings-token", "patch secrets settings-token",
			},
			events: []string{
				"Normal ReplacedSecret Deleted Secret settings-token to recreate it: its type is Opaque and cannot become example.com/token",
				"Normal CreatedSecret Created Secret settings-token",
			},
			writes: countedMetrics{"Secret create": 1, "Secret replace": 3},
			value:  "secret",
		},
		{
			name: "a paused owner leaves its children",
			change: func(t *testing.T, f *testEngine) {
				f.change(t, func(settings *corev1.ConfigMap) {
					annotated(pausedAnnotation, "true")(settings)
					settings.Data["token"] = "another"
				})
			},
			pending: []string{"Secret"},
			writes:  countedMetrics{"Secret create": 1},
			value:   "secret",
		},
		{
			name: "a child of an owner that had the name before is replaced",
			change: func(t *testing.T, f *testEngine) {
				f.cluster.CoreV1().ConfigMaps(settingsKey.Namespace).Delete(t.Context(), settingsKey.Name, metav1.DeleteOptions{})
				f.settings = newSettings(func(settings *corev1.ConfigMap) { settings.UID = "settings-2" })
				if _, err := f.cluster.CoreV1().ConfigMaps(settingsKey.Namespace).Create(t.Context(), f.settings, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			requests: []string{
				"get configmaps settings", "delete secrets settings-token", "get secrets settings-token", "patch secrets settings-token",
			},
			events: []string{
				"Normal ReplacedSecret Deleted Secret settings-token to recreate it: it belonged to a map of this name that has been deleted",
				"Normal CreatedSecret Created Secret settings-token",
			},
			writes: countedMetrics{"Secret create": 1, "Secret replace": 2},
			value:  "secret",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestEngine(t, newSettings())
			f.converge(t)
			row.change(t, f)
			f.catchUp(t)
			result := f.mustReconcile(t)
			fixture.Check(t, "failures", error(nil), result.Err())
			fixture.Check(t, "pending", row.pending, result.Pending)
			fixture.Check(t, "requests", row.requests, f.requests())
			fixture.Check(t, "events", row.events, f.told())
			fixture.Check(t, "writes", row.writes, *f.metrics)
			fixture.Check(t, "value", row.value, string(f.secret(t).Data["value"]))
		})
	}
}

func TestReconcilePrunesWhatTheOwnerDoesNotAskForAnyMore(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	f.change(t, func(settings *corev1.ConfigMap) { settings.Data = nil })
	f.catchUp(t)
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	fixture.Check(t, "requests", []string{"delete secrets settings-token"}, f.requests())
	fixture.Check(t, "events", []string{"Normal PrunedSecret Deleted Secret settings-token, which the map no longer specifies"}, f.told())
}

func TestReconcileKeepsWhatIsInUse(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	isInUse := true
	f.Kinds[0].InUse = func(owner types.NamespacedName, child Object, result *Result) (bool, error) {
		fixture.Check(t, "owner", settingsKey, owner)
		if Observed[*corev1.Secret](result, "settings-other") == nil {
			t.Error("it is asked before the other children are there")
		}
		return isInUse && child.GetName() == "settings-token", nil
	}
	f.change(t, func(settings *corev1.ConfigMap) { settings.Data = map[string]string{"other": "secret"} })
	f.catchUp(t)
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	f.catchUp(t)
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	fixture.Check(t, "requests while it is in use", 0, len(f.requests()))

	isInUse = false
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	fixture.Check(t, "requests", []string{"delete secrets settings-token"}, f.requests())
}

// A child is not created before its prerequisites exist.
func TestReconcileWaitsForPrerequisites(t *testing.T) {
	f := newTestEngine(t, newSettings(func(settings *corev1.ConfigMap) { settings.Data["user"] = "web" }), foreignSecret())
	f.Kinds[0].Prerequisites = f.Kinds
	if failures := f.reconcile(t); len(failures) != 1 {
		t.Errorf("failures: %q", failures)
	}
	_, err := f.cluster.CoreV1().Secrets(settingsKey.Namespace).Get(t.Context(), "settings-user", metav1.GetOptions{})
	fixture.Check(t, "the other one is not there", true, apierrors.IsNotFound(err))

	if err := f.cluster.CoreV1().Secrets(settingsKey.Namespace).Delete(t.Context(), "settings-token", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	fixture.Check(t, "events", []string{"Normal CreatedSecret Created Secret settings-token", "Normal CreatedSecret Created Secret settings-user"}, f.told())
}

func TestReconcileOfATakenName(t *testing.T) {
	const taken = "a Secret named settings-token exists already and does not belong to this map: "
	isController := true
	for _, row := range []struct {
		name     string
		settings func(*corev1.ConfigMap)
		secret   func(*corev1.Secret)
		requests []string
		failures []string
		events   []string
	}{
		{
			name:     "an object without a controller is refused",
			requests: []string{"get secrets settings-token"},
			failures: []string{taken + "delete it, give the map another name, or annotate the map with model.github.com/adopt=true to take it over"},
		},
		{
			name:     "an object without a controller is adopted by an owner that asks for it",
			settings: annotated(modelv1.AdoptAnnotation, "true"),
			requests: []string{"get secrets settings-token", "get configmaps settings", "patch secrets settings-token", "patch secrets settings-token"},
			events:   []string{"Normal AdoptedSecret Took over Secret settings-token, which had no controller"},
		},
		{
			name:     "an object of a box of the owner's name is refused",
			settings: annotated(modelv1.AdoptAnnotation, "true"),
			secret: func(secret *corev1.Secret) {
				secret.OwnerReferences = []metav1.OwnerReference{{
					APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "settings", UID: "settings-1", Controller: &isController,
				}}
			},
			requests: []string{"get secrets settings-token"},
			failures: []string{taken + "it cannot be adopted, for it is controlled by ModelBox settings; delete it or give the map another name"},
		},
		{
			name:     "an object that cannot become what is asked for is refused",
			settings: annotated(modelv1.AdoptAnnotation, "true"),
			secret:   func(secret *corev1.Secret) { secret.Type = "example.com/token" },
			requests: []string{"get secrets settings-token"},
			failures: []string{taken + "it cannot be adopted, for its type is example.com/token and cannot become Opaque; delete it or give the map another name"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			settings := newSettings()
			if row.settings != nil {
				row.settings(settings)
			}
			secret := foreignSecret()
			if row.secret != nil {
				row.secret(secret)
			}
			synctest.Test(t, func(t *testing.T) { // An owner is enqueued after a while whose watch has ended.
				f := newTestEngine(t, settings, secret)
				f.denyWatches()
				fixture.Check(t, "failures", row.failures, f.reconcile(t))
				f.Wait()
				fixture.Check(t, "requests", row.requests, f.requests())
				fixture.Check(t, "events", row.events, f.told())
				fixture.Check(t, "the owner controls it", row.failures == nil, f.IsOwnedBy(f.secret(t), settings))
			})
		})
	}
}

// foreignSecret returns an object that has the name of the child and no owner.
func foreignSecret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "settings-token", Namespace: settingsKey.Namespace, UID: "foreign"},
		Type:       corev1.SecretTypeOpaque,
	}
}

// denyWatches makes the cluster deny watches of a name that is taken.
func (f *testEngine) denyWatches() {
	f.cluster.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, nil, errors.New("this cluster denies watches of a single object")
	})
}

// The cache shows a child that a user has deleted in the meantime. The next reconcile will see the deletion.
func TestReconcileOfAStaleCache(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	f.changeSecret(t, "kubectl-edit", func(secret *corev1.Secret) { secret.Data["value"] = []byte("forged") })
	f.catchUp(t)
	if err := f.cluster.CoreV1().Secrets(settingsKey.Namespace).Delete(t.Context(), "settings-token", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.cluster.ClearActions()
	result := f.mustReconcile(t)
	if len(result.Failures) != 1 || !Classify(result.Failures[0]).IsStale {
		t.Errorf("got failures %v, want one about a stale cache", result.Failures)
	}
	fixture.Check(t, "requests", []string{"get secrets settings-token"}, f.requests())
}

// A child whose label a user has removed drops out of the cache. The reconcile starts over with the child that the cluster has.
func TestReconcileStartsOverWithWhatTheCacheHides(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	f.changeSecret(t, "kubectl-label", func(secret *corev1.Secret) { delete(secret.Labels, render.ManagedByLabel) })
	f.catchUp(t)
	fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	fixture.Check(t, "requests", []string{"get secrets settings-token", "patch secrets settings-token"}, f.requests())
	fixture.Check(t, "events", []string{
		"Warning RestoredSecret Restored Secret settings-token: another client had changed metadata.labels",
	}, f.told())
}

// Nothing is restored for an owner that has been paused, whatever the reconcile began with.
func TestReconcileOfAPausedOwnerDoesNotCreateWhatIsMissing(t *testing.T) {
	f := newTestEngine(t, newSettings(annotated(pausedAnnotation, "true")))
	result := f.mustReconcile(t)
	fixture.Check(t, "pending", []string{"Secret"}, result.Pending)
	fixture.Check(t, "requests", []string(nil), f.requests())
}

func TestConflictIsOverAFieldThatSomebodyKeepsChanging(t *testing.T) {
	f := newTestEngine(t, newSettings())
	f.converge(t)
	forge := func(t *testing.T) {
		f.changeSecret(t, "cron", func(secret *corev1.Secret) { secret.Data["value"] = []byte("forged") })
		f.catchUp(t)
	}
	for range MaxRestores {
		forge(t)
		fixture.Check(t, "failures", []string(nil), f.reconcile(t))
	}
	forge(t)
	result := f.mustReconcile(t)
	const message = "Secret settings-token: cron keeps changing data.value; back-off restoring what the map asks for"
	fixture.Check(t, "failure", message, fmt.Sprint(result.Err()))
	after, ok := RetryAfter(result.Failures)
	fixture.Check(t, "retry after", FirstPause, after)
	fixture.Check(t, "without backoff", true, ok)
	f.clock.SetTime(f.clock.Now().Add(FirstPause))
	f.catchUp(t)
	fixture.Check(t, "failures after the pause", []string(nil), f.reconcile(t))
	fixture.Check(t, "value", "secret", string(f.secret(t).Data["value"]))
}

// Two controllers may share the informer of a kind.
func TestIndexersOfTwoOwnerKindsDoNotClash(t *testing.T) {
	f := newTestEngine(t, newSettings())
	other := NewEngine(Config[*corev1.Pod]{Owners: apply.Owners[*corev1.Pod]{OwnerKind: corev1.SchemeGroupVersion.WithKind("Pod")}})
	if err := f.Kinds[0].Informer.AddIndexers(other.Indexers()); err != nil {
		t.Error(err)
	}
}
