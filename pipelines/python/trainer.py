#!/usr/bin/python3
"""A ResNet-18 by SimCLR or EMC2, in PyTorch: stands in the place of foil-train.
usage: trainer.py -r RUN [--objective emc2] [--keep-features N] [--autocast] ..."""
import torch, torchvision
import foil

o = foil.options(run=str, objective=["simclr", "emc2"], keep_features=0, autocast=False,
                 device="cuda" if torch.cuda.is_available() else "cpu",
                 tau=.5, lr=.06, threads=1, seed=0)
torch.manual_seed(o.seed), torch.set_num_threads(o.threads or 1)
net = torchvision.models.resnet18()
net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
net.maxpool = net.fc = torch.nn.Identity()
head = torch.nn.Sequential(
    torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 128))
model = torch.nn.Sequential(net, head).to(o.device)
optim = torch.optim.SGD(model.parameters(), o.lr, momentum=0.9, weight_decay=1e-4)
mean, deviation = (torch.tensor(foil.ENCODER[k], device=o.device).view(3, 1, 1)
                   for k in ("mean", "deviation"))
for batch in (trainer := foil.Trainer(o.run, keep_features=o.keep_features,
                                      negatives=o.objective == "emc2")):
    x = torch.from_numpy(batch.images()).to(o.device).permute(0, 3, 1, 2)
    with torch.autocast(x.device.type, torch.bfloat16, enabled=o.autocast), \
            torch.set_grad_enabled(not batch.encode_only):
        z = torch.nn.functional.normalize(model((x / 255 - mean) / deviation).float())
    n, s = 2 * len(batch), z @ z.T / o.tau
    partner = s[torch.arange(n), torch.arange(n).roll(n // 2)]
    if o.objective == "simclr":
        away = s[:n].fill_diagonal_(-torch.inf).logsumexp(1)
    else:
        away = (torch.from_numpy(batch.weights(z, 1 / o.tau)).to(s) * s[:n]).sum(1)
    loss = (away - partner).mean()
    if not batch.encode_only:
        optim.zero_grad(), loss.backward(), optim.step()
    batch.done(z=z, loss=loss)
    if batch.step + 1 == batch.steps:
        trainer.save(net.state_dict(), encoder={"arch": "resnet18", "head": "512-128"},
                     head={"head." + k: w for k, w in head.state_dict().items()},
                     size=x.shape[2])
