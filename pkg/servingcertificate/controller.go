// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	aggregatorinformers "k8s.io/kube-aggregator/pkg/client/informers/externalversions"
)

const (
	// syncTimeout is the timeout for the requests of one sync.
	syncTimeout = 10 * time.Second
	// maxRetryPeriod is the maximum time between two retries, for example until a new permission takes effect.
	maxRetryPeriod = 15 * time.Second
	// resyncPeriod is the maximum delay of a sync whose timer was stopped, as on a suspended machine.
	resyncPeriod = time.Hour
	// maxTrustDelay is the maximum time from the write of a CA to the caBundle until the CA signs. Each kube-apiserver must have
	// read the caBundle by then.
	maxTrustDelay = time.Minute
)

// Config is the configuration of a Controller.
type Config struct {
	KubeClient       kubernetes.Interface
	AggregatorClient aggregator.Interface
	// Secret is the Secret of the certificates, and APIService the name of the APIService of the servers.
	Secret     types.NamespacedName
	APIService string
	// Hosts are the DNS names and IP addresses of the servers. It must not be empty.
	Hosts []string
	// Lifetime is the lifetime of serving certificates. CALifetime is the lifetime of CAs, and must not be shorter.
	Lifetime, CALifetime time.Duration
	// EventReporter is the reporting controller of events.
	EventReporter string
}

// Controller maintains the certificates in the Secret, and provides the serving certificate. Each server runs one. The Secret
// coordinates them.
type Controller struct {
	*served
	secrets     secretStore
	apiServices apiServiceStore
	rotation    rotation
	// trustDelay is the time for which the cluster must trust the next CA before it signs.
	trustDelay time.Duration
	// nextTrusted is the next CA if the cluster trusts it, nil otherwise. nextTrustedSince is the time from which on this server
	// has seen that.
	nextTrusted      *x509.Certificate
	nextTrustedSince time.Time

	queue            workqueue.TypedRateLimitingInterface[string]
	kubeInformers    informers.SharedInformerFactory
	apiInformers     aggregatorinformers.SharedInformerFactory
	broadcaster      events.EventBroadcaster
	recorder         events.EventRecorder
	startBroadcaster sync.Once
}

var (
	_ dynamiccertificates.CertKeyContentProvider = &Controller{}
	_ dynamiccertificates.ControllerRunner       = &Controller{}
	_ dynamiccertificates.Listener               = &Controller{}
)

// queueKey is the only key in the queue.
const queueKey = "certificates"

// New returns a Controller. It sends no requests. Until the first sync, the Controller provides a certificate that no client
// trusts.
func New(config Config) (*Controller, error) {
	registerMetrics()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: config.KubeClient.EventsV1()})
	c := &Controller{
		served:      &served{},
		secrets:     secretStore{client: config.KubeClient, key: config.Secret},
		apiServices: apiServiceStore{client: config.AggregatorClient, name: config.APIService},
		rotation:    rotation{hosts: config.Hosts, lifetime: config.Lifetime, caLifetime: config.CALifetime},
		trustDelay:  min(maxTrustDelay, config.CALifetime/12),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, maxRetryPeriod),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "serving-certificate"}),
		kubeInformers: informers.NewSharedInformerFactoryWithOptions(config.KubeClient, 0,
			informers.WithNamespace(config.Secret.Namespace), informers.WithTweakListOptions(named(config.Secret.Name))),
		apiInformers: aggregatorinformers.NewSharedInformerFactoryWithOptions(config.AggregatorClient, 0,
			aggregatorinformers.WithTweakListOptions(named(config.APIService))),
		broadcaster: broadcaster,
		recorder:    broadcaster.NewRecorder(scheme.Scheme, config.EventReporter),
	}
	enqueue := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.Enqueue() },
		UpdateFunc: func(any, any) { c.Enqueue() },
		DeleteFunc: func(any) { c.Enqueue() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		c.kubeInformers.Core().V1().Secrets().Informer(),
		c.apiInformers.Apiregistration().V1().APIServices().Informer(),
	} {
		if _, err := informer.AddEventHandler(enqueue); err != nil {
			return nil, fmt.Errorf("watching the certificates: %w", err)
		}
	}
	temporary, err := c.rotation.issueAll(time.Now())
	if err != nil {
		return nil, err
	}
	if c.certificate, c.key, err = temporary.serving.Encode(); err != nil {
		return nil, err
	}
	return c, nil
}

func named(name string) func(*metav1.ListOptions) {
	return func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
}

// Enqueue enqueues a sync of the certificates.
func (c *Controller) Enqueue() { c.queue.Add(queueKey) }

// RunOnce loads the certificate. It issues a certificate if there is none.
func (c *Controller) RunOnce(ctx context.Context) error {
	c.startEvents(ctx)
	_, err := c.syncOnce(ctx)
	return err
}

// Run maintains the certificates until ctx is done. It ignores the number of workers.
func (c *Controller) Run(ctx context.Context, _ int) {
	logger := klog.FromContext(ctx)
	logger.Info("Maintaining the serving certificate", "secret", c.secrets.key, "apiService", c.apiServices.name)
	c.startEvents(ctx)
	defer c.broadcaster.Shutdown()
	c.kubeInformers.StartWithContext(ctx)
	defer c.kubeInformers.Shutdown()
	c.apiInformers.StartWithContext(ctx)
	defer c.apiInformers.Shutdown()

	c.Enqueue()
	var running sync.WaitGroup
	running.Go(func() { wait.UntilWithContext(ctx, c.work, time.Second) })
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
}

func (c *Controller) startEvents(ctx context.Context) {
	c.startBroadcaster.Do(func() {
		if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "Cannot record events of the serving certificate")
		}
	})
}

func (c *Controller) work(ctx context.Context) {
	for {
		key, isShutDown := c.queue.Get()
		if isShutDown {
			return
		}
		next, err := c.syncOnce(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			klog.FromContext(ctx).Error(err, "Maintaining the serving certificate failed, will be tried again")
			c.queue.AddRateLimited(key)
		default:
			c.queue.Forget(key)
			c.queue.AddAfter(key, max(min(time.Until(next), resyncPeriod), time.Second))
		}
		c.queue.Done(key)
	}
}

// syncOnce calls sync, and repeats it after a conflict with another server.
func (c *Controller) syncOnce(ctx context.Context) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	err = retry.OnError(retry.DefaultBackoff, isConflict, func() (err error) {
		next, err = c.sync(ctx)
		return err
	})
	return next, err
}

func isConflict(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// sync rotates the certificates in the Secret if necessary, loads the serving certificate, and writes the CAs to the APIService. It
// returns the time of the next sync.
func (c *Controller) sync(ctx context.Context) (time.Time, error) {
	// Read the APIService before the Secret. If the write of the APIService has no conflict, no server with a later state of the
	// Secret has written it meanwhile.
	apiService, trustError := c.apiServices.read(ctx)

	current, err := c.syncSecret(ctx, func(current *certificates) bool {
		return trustError == nil && c.isNextTrusted(apiService, current)
	})
	if err != nil {
		c.setLoadError(err)
		return time.Time{}, errors.Join(err, trustError)
	}
	isNew, err := c.load(current.serving)
	if err != nil {
		return time.Time{}, err
	}
	setExpiration(servingLabel, current.serving.Certificate)
	setExpiration(caLabel, current.signer.Certificate)
	if isNew {
		klog.FromContext(ctx).Info("Serving with a certificate", "secret", c.secrets.key,
			"serialNumber", current.serving.Certificate.SerialNumber, "expires", current.serving.Certificate.NotAfter,
			"ca", current.signer.Certificate.Subject.CommonName)
	}

	if trustError == nil {
		trustError = c.syncAPIService(ctx, apiService, current)
	}
	c.setTrust(trustError)
	next := c.rotation.nextTime(current)
	if current.next != nil {
		next = earliest(next, c.nextTrustedSince.Add(c.trustDelay))
	}
	return next, trustError
}

// syncSecret rotates the certificates in the Secret if necessary, and returns them. isNextTrusted returns whether the next CA may
// sign.
func (c *Controller) syncSecret(ctx context.Context, isNextTrusted func(*certificates) bool) (*certificates, error) {
	secret, err := c.secrets.read(ctx)
	if err != nil {
		return nil, err
	}
	current, loss := c.currentOf(secret)
	rotated, changes, err := c.rotation.rotate(current, time.Now(), current != nil && isNextTrusted(current))
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return rotated, nil
	}
	data, err := rotated.encode()
	if err != nil {
		return nil, err
	}
	written, err := c.secrets.write(ctx, secret, data)
	if err != nil {
		return nil, err
	}
	countRotations(changes)
	c.report(ctx, written, loss, changes)
	return rotated, nil
}

// currentOf returns the certificates in the Secret, nil if there are no usable ones. If there were certificates before, loss is the
// reason why they cannot be used.
func (c *Controller) currentOf(secret *corev1.Secret) (current *certificates, loss string) {
	if secret == nil {
		if c.isLoaded() {
			return nil, "the Secret was deleted"
		}
		return nil, ""
	}
	current, err := decode(secret.Data)
	if err != nil {
		return nil, fmt.Sprintf("the Secret is invalid: %v", err)
	}
	return current, ""
}

// report logs the changes and records an event.
func (c *Controller) report(ctx context.Context, secret *corev1.Secret, loss string, changes []change) {
	done := make([]string, 0, len(changes))
	for _, change := range changes {
		done = append(done, string(change))
	}
	eventType, reason, message := corev1.EventTypeNormal, "CertificatesRotated", strings.Join(done, ", ")
	if loss != "" {
		eventType, reason, message = corev1.EventTypeWarning, "CertificatesReplaced", loss+": "+message
	}
	klog.FromContext(ctx).Info("Changed the certificates", "secret", c.secrets.key, "reason", reason, "message", message)
	c.recorder.Eventf(secret, nil, eventType, reason, "Issuing", "%s", message)
}

// syncAPIService writes the CAs to the caBundle of the APIService. It writes nothing if apiService is nil.
func (c *Controller) syncAPIService(ctx context.Context, apiService *apiregistrationv1.APIService, current *certificates) error {
	bundle, err := current.bundle()
	if err != nil {
		return err
	}
	if apiService != nil && !trusts(apiService, bundle) {
		c.nextTrusted = nil
		if err := c.apiServices.write(ctx, apiService, bundle); err != nil {
			return err
		}
		bundleWrites.Inc()
		klog.FromContext(ctx).Info("Wrote the caBundle", "apiService", c.apiServices.name, "cas", len(current.trusted))
	}
	if current.next != nil && !current.next.Certificate.Equal(c.nextTrusted) {
		c.nextTrusted, c.nextTrustedSince = current.next.Certificate, time.Now()
	}
	return nil
}

// isNextTrusted returns whether the cluster has trusted the next CA for trustDelay, in each sync of this server since
// nextTrustedSince.
func (c *Controller) isNextTrusted(apiService *apiregistrationv1.APIService, current *certificates) bool {
	if current.next == nil || !current.next.Certificate.Equal(c.nextTrusted) || time.Since(c.nextTrustedSince) < c.trustDelay {
		return false
	}
	bundle, err := current.bundle()
	return err == nil && (apiService == nil || trusts(apiService, bundle))
}
