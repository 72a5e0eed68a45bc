// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package authentication has the parts of the authentication of requests that a generic API server does not have.
package authentication

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// authenticationConfigMap is where the cluster publishes, in its namespace for system components, which certificates
// its own clients and its aggregation layer have.
const (
	authenticationConfigMap = "extension-apiserver-authentication"
	clientCAKey             = "client-ca-file"
	requestHeaderCAKey      = "requestheader-client-ca-file"
)

// RequireClientCA keeps the server from being ready before it trusts all client CAs of the cluster. Until then, all users are
// anonymous and would be refused, including users behind the aggregation layer.
func RequireClientCA(config *genericapiserver.RecommendedConfig, o *genericoptions.DelegatingAuthenticationOptions) error {
	if config.SecureServing.ClientCA == nil {
		return nil
	}
	clientConfig := config.ClientConfig
	if o.RemoteKubeConfigFile != "" {
		var err error
		if clientConfig, err = clientcmd.BuildConfigFromFlags("", o.RemoteKubeConfigFile); err != nil {
			return fmt.Errorf("reading --authentication-kubeconfig: %w", err)
		}
	}
	client, err := kubernetes.NewForConfig(clientConfig)
	if err != nil {
		return fmt.Errorf("creating a client for the cluster's authentication: %w", err)
	}
	ca := &clientCA{
		CAContentProvider: config.SecureServing.ClientCA,
		client:            client,
		keys:              lookedUpKeys(o, &config.Authentication),
	}
	config.SecureServing.ClientCA = ca
	config.AddReadyzChecks(healthz.NamedCheck("client-ca", ca.check))
	return nil
}

// lookedUpKeys returns what of the config map is not given by flags.
func lookedUpKeys(o *genericoptions.DelegatingAuthenticationOptions, authentication *genericapiserver.AuthenticationInfo) []string {
	if o.SkipInClusterLookup {
		return nil
	}
	var keys []string
	if o.ClientCert == (genericoptions.ClientCertAuthenticationOptions{}) {
		keys = append(keys, clientCAKey)
	}
	if o.RequestHeader.ClientCAFile == "" && authentication.RequestHeaderConfig != nil {
		keys = append(keys, requestHeaderCAKey)
	}
	return keys
}

// clientCA are the CAs of client certificates, some of which are read from the cluster while the server serves already.
//
// It sends none of them to clients until all are read. A client that receives only some of them may not send a certificate of
// another CA, and is then anonymous for the whole connection. A client that receives none sends its certificate.
type clientCA struct {
	dynamiccertificates.CAContentProvider
	client kubernetes.Interface
	// keys are the keys of the ConfigMap that the server reads. The cluster may omit some of them.
	keys     []string
	complete atomic.Bool
}

var _ dynamiccertificates.ControllerRunner = &clientCA{}

// check returns nil once every CA has been read that the cluster publishes.
func (c *clientCA) check(r *http.Request) error {
	if c.complete.Load() {
		return nil
	}
	trusted := c.CAContentProvider.CurrentCABundleContent()
	if len(trusted) == 0 {
		return errors.New("no CA of client certificates has been read from the cluster yet")
	}
	if len(c.keys) > 0 {
		published, err := c.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(r.Context(), authenticationConfigMap, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading which client certificates to trust: %w", err)
		}
		for _, key := range c.keys {
			if !bytes.Contains(trusted, bytes.TrimSpace([]byte(published.Data[key]))) {
				return fmt.Errorf("%s of config map %s has not been read from the cluster yet", key, authenticationConfigMap)
			}
		}
	}
	c.complete.Store(true)
	return nil
}

// CurrentCABundleContent returns the CAs that are named to clients.
func (c *clientCA) CurrentCABundleContent() []byte {
	if !c.complete.Load() {
		return nil
	}
	return c.CAContentProvider.CurrentCABundleContent()
}

// RunOnce reads the CAs that can be read at once.
func (c *clientCA) RunOnce(ctx context.Context) error {
	if runner, ok := c.CAContentProvider.(dynamiccertificates.ControllerRunner); ok {
		return runner.RunOnce(ctx)
	}
	return nil
}

// Run keeps the CAs as they are published until ctx is done.
func (c *clientCA) Run(ctx context.Context, workers int) {
	if runner, ok := c.CAContentProvider.(dynamiccertificates.ControllerRunner); ok {
		runner.Run(ctx, workers)
	}
}
