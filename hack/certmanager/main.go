// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command cert-manager has the parts of cert-manager that issue certificates without services outside of the cluster: the
// controllers of certificates, of self-signed and CA issuers, and the cainjector for APIServices. It is for the tests of pkg/e2e,
// and uses the cluster of KUBECONFIG.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	certmanagerscheme "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"         // registers its kind of issuer
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned" // the same
	"github.com/cert-manager/cert-manager/pkg/util"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	workers = 2
	// requestBackoff is how long a request that failed is not repeated, at first and at most.
	requestBackoff, maxRequestBackoff = time.Second, time.Minute
)

// started are the controllers, of all that register themselves.
var started = []string{
	issuers.ControllerName,
	approver.ControllerName, ca.CRControllerName, selfsigned.CRControllerName,
	issuing.ControllerName, keymanager.ControllerName, readiness.ControllerName, requestmanager.ControllerName,
	revisionmanager.ControllerName, trigger.ControllerName,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	controllerruntime.SetLogger(klog.Background())
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return runControllers(ctx, running) })
	running.Go(func() error { return runInjector(ctx) })
	if err := running.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// runControllers lets running run the controllers.
func runControllers(ctx context.Context, running *errgroup.Group) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: os.Getenv("KUBECONFIG"),
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: requestBackoff,
			CertificateRequestMaximumBackoffDuration: maxRequestBackoff,
		},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	for name, build := range controller.Known() {
		if !slices.Contains(started, name) {
			continue
		}
		c, err := build(factory)
		if err != nil {
			return fmt.Errorf("building the controller %s: %w", name, err)
		}
		running.Go(func() error { return c.Run(workers, ctx) })
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return nil
}

// runInjector sets the caBundle of APIServices to the CA of their certificate until ctx is done.
func runInjector(ctx context.Context) error {
	config, err := controllerruntime.GetConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, certmanagerscheme.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	manager, err := controllerruntime.NewManager(util.RestConfigWithUserAgent(config, "cainjector"), controllerruntime.Options{
		Scheme: scheme,
		// Of Secrets only the metadata is in the cache.
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("making the cainjector: %w", err)
	}
	if err := cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor:        map[string]bool{cainjector.APIServiceName: true},
	}); err != nil {
		return err
	}
	return manager.Start(ctx)
}
