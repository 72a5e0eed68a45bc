// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	kmsapi "k8s.io/kms/apis/v2"
)

// kmsPlugin is a plugin of KMS v2 that has its keys in memory. It cannot decrypt data of a key that it no longer has.
type kmsPlugin struct {
	kmsapi.UnimplementedKeyManagementServiceServer

	// name is the name of the provider in the configuration.
	name, socket string
	server       *grpc.Server

	mu sync.Mutex
	// keys are by ID, and keyID is the ID of the key that encrypts.
	keys  map[string]cipher.AEAD
	keyID string
}

// startPlugin returns a plugin that runs and has the key 1. The plugins of a process have different names.
func (s *encryptedStore) startPlugin(t *testing.T, name string) *kmsPlugin {
	t.Helper()
	p := &kmsPlugin{name: name, socket: filepath.Join(s.dir, name+".sock"), keys: map[string]cipher.AEAD{}}
	p.rotate(t, "1")
	p.start(t)
	t.Cleanup(p.stop)
	return p
}

// start listens on the socket.
func (p *kmsPlugin) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	kmsapi.RegisterKeyManagementServiceServer(server, p)
	go func() { _ = server.Serve(listener) }()
	p.server = server
}

// stop ends all connections and removes the socket. The keys stay.
func (p *kmsPlugin) stop() { p.server.Stop() }

// provider is the plugin in a configuration.
func (p *kmsPlugin) provider() string {
	return fmt.Sprintf("kms: {apiVersion: v2, name: %s, endpoint: %q, timeout: 1s}", p.name, "unix://"+p.socket)
}

// prefix is what values begin with that the plugin has to do with.
func (p *kmsPlugin) prefix() string { return "k8s:enc:kms:v2:" + p.name + ":" }

// rotate encrypts with a new key.
func (p *kmsPlugin) rotate(t *testing.T, keyID string) {
	t.Helper()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	block, err := aes.NewCipher(secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[keyID], p.keyID = key, keyID
}

// takeAway loses a key.
func (p *kmsPlugin) takeAway(keyID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.keys, keyID)
}

// key returns a key, or the error of the plugin without it.
func (p *kmsPlugin) key(keyID string) (cipher.AEAD, error) {
	key := p.keys[keyID]
	if key == nil {
		return nil, status.Errorf(codes.FailedPrecondition, "there is no key %s", keyID)
	}
	return key, nil
}

// Status says which key encrypts.
func (p *kmsPlugin) Status(context.Context, *kmsapi.StatusRequest) (*kmsapi.StatusResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.key(p.keyID); err != nil {
		return nil, err
	}
	return &kmsapi.StatusResponse{Version: "v2", Healthz: "ok", KeyId: p.keyID}, nil
}

// Encrypt encrypts with the present key.
func (p *kmsPlugin) Encrypt(_ context.Context, request *kmsapi.EncryptRequest) (*kmsapi.EncryptResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, err := p.key(p.keyID)
	if err != nil {
		return nil, err
	}
	return &kmsapi.EncryptResponse{Ciphertext: key.Seal(nil, nil, request.Plaintext, nil), KeyId: p.keyID}, nil
}

// Decrypt decrypts with the key that the request names.
func (p *kmsPlugin) Decrypt(_ context.Context, request *kmsapi.DecryptRequest) (*kmsapi.DecryptResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, err := p.key(request.KeyId)
	if err != nil {
		return nil, err
	}
	plain, err := key.Open(nil, nil, request.Ciphertext, nil)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &kmsapi.DecryptResponse{Plaintext: plain}, nil
}
