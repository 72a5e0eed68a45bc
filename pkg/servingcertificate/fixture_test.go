// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	certutil "k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	typedapiregistrationv1 "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/typed/apiregistration/v1"
)

const (
	day        = 24 * time.Hour
	host       = "modelbox-apiserver.modelbox-system.svc"
	apiService = "v1.model.github.com"
)

var secretKey = types.NamespacedName{Namespace: "modelbox-system", Name: "modelbox-apiserver-certificate"}

// cluster has the Secret and the APIService. It counts their writes, and refuses writes of an object that has changed meanwhile, as
// a real cluster does and the plain fakes do not.
type cluster struct {
	kube       *fake.Clientset
	aggregator *aggregatorfake.Clientset

	mu      sync.Mutex
	version int
	writes  int
	// refuse sees every request before it is answered. An error that it returns is the answer.
	refuse func(action clienttesting.Action) error
}

func newCluster(t *testing.T, apiServices ...*apiregistrationv1.APIService) *cluster {
	t.Helper()
	c := &cluster{kube: fake.NewClientset(), aggregator: aggregatorfake.NewSimpleClientset(), version: 100}
	for _, apiService := range apiServices {
		if err := c.aggregator.Tracker().Add(apiService); err != nil {
			t.Fatal(err)
		}
	}
	c.kube.PrependReactor("*", "secrets", c.writeSecret)
	c.aggregator.PrependReactor("patch", "apiservices", c.patchAPIService)
	c.kube.PrependReactor("*", "*", c.guard)
	c.aggregator.PrependReactor("*", "*", c.guard)
	return c
}

// leadingTo is an APIService that routes to the servers, and has no CA bundle.
func leadingTo(service string) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: apiService, ResourceVersion: "1"},
		Spec:       apiregistrationv1.APIServiceSpec{Service: &apiregistrationv1.ServiceReference{Namespace: secretKey.Namespace, Name: service}},
	}
}

func (c *cluster) guard(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		if err := c.refuse(action); err != nil {
			return true, nil, err
		}
	}
	return false, nil, nil
}

func (c *cluster) writeSecret(action clienttesting.Action) (bool, runtime.Object, error) {
	write, isWrite := action.(clienttesting.UpdateAction) // also what a create looks like
	if !isWrite {
		return false, nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	secret := write.GetObject().(*corev1.Secret)
	if action.GetVerb() == "update" {
		present, err := c.kube.Tracker().Get(action.GetResource(), action.GetNamespace(), secret.Name)
		if err != nil {
			return true, nil, err
		}
		if present.(*corev1.Secret).ResourceVersion != secret.ResourceVersion {
			return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), secret.Name, errors.New("it was changed"))
		}
	}
	secret.ResourceVersion = c.nextVersion()
	return false, nil, nil
}

func (c *cluster) patchAPIService(action clienttesting.Action) (bool, runtime.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	patch := action.(clienttesting.PatchAction)
	object, err := c.aggregator.Tracker().Get(action.GetResource(), "", patch.GetName())
	if err != nil {
		return true, nil, err
	}
	apiService := object.(*apiregistrationv1.APIService).DeepCopy()
	version := apiService.ResourceVersion
	if err := json.Unmarshal(patch.GetPatch(), apiService); err != nil {
		return true, nil, err
	}
	if apiService.ResourceVersion != version {
		return true, nil, apierrors.NewConflict(action.GetResource().GroupResource(), apiService.Name, errors.New("it was changed"))
	}
	apiService.ResourceVersion = c.nextVersion()
	return true, apiService, c.aggregator.Tracker().Update(action.GetResource(), apiService, "")
}

func (c *cluster) nextVersion() string {
	c.version++
	c.writes++
	return strconv.Itoa(c.version)
}

func (c *cluster) countWrites() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

// refuseWith sets what answers requests, nil for the cluster itself.
func (c *cluster) refuseWith(refuse func(action clienttesting.Action) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = refuse
}

// forbid refuses a verb on a resource, as RBAC does.
func forbid(verb, resource string) func(clienttesting.Action) error {
	return func(action clienttesting.Action) error {
		if action.Matches(verb, resource) {
			return apierrors.NewForbidden(action.GetResource().GroupResource(), "", fmt.Errorf("User %q cannot %s resource %q", "modelbox", verb, resource))
		}
		return nil
	}
}

func (c *cluster) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret, err := c.kube.CoreV1().Secrets(secretKey.Namespace).Get(t.Context(), secretKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// editSecret changes the Secret as another client does.
func (c *cluster) editSecret(t *testing.T, edit func(*corev1.Secret)) {
	t.Helper()
	secret := c.secret(t).DeepCopy()
	edit(secret)
	if _, err := c.kube.CoreV1().Secrets(secretKey.Namespace).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) deleteSecret(t *testing.T) {
	t.Helper()
	if err := c.kube.CoreV1().Secrets(secretKey.Namespace).Delete(t.Context(), secretKey.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) apiService(t *testing.T) *apiregistrationv1.APIService {
	t.Helper()
	apiService, err := c.aggregator.ApiregistrationV1().APIServices().Get(t.Context(), apiService, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return apiService
}

// editAPIService changes the APIService as another client does.
func (c *cluster) editAPIService(t *testing.T, edit func(*apiregistrationv1.APIService)) {
	t.Helper()
	apiService := c.apiService(t).DeepCopy()
	edit(apiService)
	c.mu.Lock()
	apiService.ResourceVersion = c.nextVersion()
	c.mu.Unlock()
	if err := c.aggregator.Tracker().Update(apiregistrationv1.SchemeGroupVersion.WithResource("apiservices"), apiService, ""); err != nil {
		t.Fatal(err)
	}
}

// newController returns a controller of another server, whose certificates live for 90 days and whose CAs for a year.
func (c *cluster) newController(t *testing.T, changes ...func(*Config)) *Controller {
	t.Helper()
	config := Config{
		KubeClient: c.kube, AggregatorClient: c.aggregator,
		Secret: secretKey, APIService: apiService, Hosts: []string{host},
		Lifetime: 90 * day, CALifetime: 365 * day, EventReporter: "modelbox-apiserver",
	}
	for _, change := range changes {
		change(&config)
	}
	controller, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !controller.queue.ShuttingDown() { // it was never run, and is run now to end what it has begun
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			controller.Run(ctx, 1)
		}
	})
	return controller
}

// short has certificates live for 18 hours and CAs for three days.
func short(config *Config) { config.Lifetime, config.CALifetime = 18*time.Hour, 3*day }

// leafOf returns the certificate that a server serves with.
func leafOf(t *testing.T, c *Controller) *x509.Certificate {
	t.Helper()
	certificatePEM, _ := c.CurrentCertKeyContent()
	parsed, err := certutil.ParseCertsPEM(certificatePEM)
	if err != nil {
		t.Fatal(err)
	}
	return parsed[0]
}

// verify returns why a client that trusts the bundle refuses the certificate now.
func verify(certificate *x509.Certificate, bundle []byte) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := certificate.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: time.Now()})
	return err
}

// expectTrusted checks that the cluster accepts the server.
func (c *cluster) expectTrusted(t *testing.T, controller *Controller) {
	t.Helper()
	if err := verify(leafOf(t, controller), c.apiService(t).Spec.CABundle); err != nil {
		t.Errorf("the cluster refuses the server: %v", err)
	}
	if err := controller.Check(nil); err != nil {
		t.Errorf("the server is not ready: %v", err)
	}
}

func runOnce(t *testing.T, c *Controller) {
	t.Helper()
	if err := c.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// start runs the controller until the function that it returns is called, or the test ends.
func start(t *testing.T, c *Controller) (stop func()) {
	t.Helper()
	if err := c.RunOnce(t.Context()); err != nil {
		t.Log(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx, 1) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// racedKube lets something happen before a Secret is created.
type racedKube struct {
	kubernetes.Interface
	beforeCreate func()
}

func (k *racedKube) CoreV1() typedcorev1.CoreV1Interface {
	return &racedCore{k.Interface.CoreV1(), k.beforeCreate}
}

type racedCore struct {
	typedcorev1.CoreV1Interface
	beforeCreate func()
}

func (c *racedCore) Secrets(namespace string) typedcorev1.SecretInterface {
	return &racedSecrets{c.CoreV1Interface.Secrets(namespace), c.beforeCreate}
}

type racedSecrets struct {
	typedcorev1.SecretInterface
	beforeCreate func()
}

func (s *racedSecrets) Create(ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions) (*corev1.Secret, error) {
	s.beforeCreate()
	return s.SecretInterface.Create(ctx, secret, options)
}

// racedAggregator lets something happen before the APIService is written.
type racedAggregator struct {
	aggregator.Interface
	beforePatch func()
}

func (a *racedAggregator) ApiregistrationV1() typedapiregistrationv1.ApiregistrationV1Interface {
	return &racedRegistration{a.Interface.ApiregistrationV1(), a.beforePatch}
}

type racedRegistration struct {
	typedapiregistrationv1.ApiregistrationV1Interface
	beforePatch func()
}

func (r *racedRegistration) APIServices() typedapiregistrationv1.APIServiceInterface {
	return &racedAPIServices{r.ApiregistrationV1Interface.APIServices(), r.beforePatch}
}

type racedAPIServices struct {
	typedapiregistrationv1.APIServiceInterface
	beforePatch func()
}

func (s *racedAPIServices) Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*apiregistrationv1.APIService, error) {
	s.beforePatch()
	return s.APIServiceInterface.Patch(ctx, name, patchType, data, options, subresources...)
}
